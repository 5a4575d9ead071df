import { expect } from 'chai';
import { QueueMetrics } from '../queue/queue-metrics.ts';
import { MetricsRegistry } from './metrics-registry.ts';
import { queueMetricsPage } from './queue-metrics-page.ts';

describe('observe/queue-metrics-page', () => {
  it("adds up the waiting times of all levels under client-go's name, and keeps them apart under ours", async () => {
    const metrics = new QueueMetrics();
    const registry = new MetricsRegistry();
    queueMetricsPage(registry, { read: () => metrics.read(0), quarantined: () => 4 });
    for (const level of ['critical', 'low', 'low'] as const) {
      metrics.event(level, 'minor', 'new');
      metrics.taken(level, level, 'due', 250, 0);
    }
    metrics.drop('immaterial');
    let text = '';
    for await (const piece of registry.page()) text += piece;
    expect(text.split('\n')).to.include.members([
      'workqueue_queue_duration_seconds_count{name="services"} 3',
      'workqueue_queue_duration_seconds_sum{name="services"} 0.75',
      'workqueue_queue_duration_seconds_bucket{name="services",le="0.1"} 0',
      'workqueue_queue_duration_seconds_bucket{name="services",le="1"} 3',
      'workqueue_adds_total{name="services"} 3',
      'ipvs_proxier_queue_latency_seconds_count{level="low"} 2',
      'ipvs_proxier_queue_latency_seconds_count{level="critical"} 1',
      'ipvs_proxier_dropped_events_total{reason="immaterial"} 1',
      'ipvs_proxier_quarantined_services 4',
    ]);
  });
});
