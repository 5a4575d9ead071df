import { Histogram, type HistogramReading } from '../queue/histogram.ts';
import type { QueueReading } from '../queue/queue-metrics.ts';
import type { MetricsRegistry, Sample } from './metrics-registry.ts';

export interface QueueSources {
  readonly read: () => QueueReading;
  readonly quarantined: () => number;
}

/**
 * The queue of Services: client-go's metrics for a queue called `services`, and what is our own.
 *
 * Source: kubernetes/client-go util/workqueue/metrics.go
 */
export function queueMetricsPage(registry: MetricsRegistry, { read, quarantined }: QueueSources): void {
  const one = (value: (reading: QueueReading) => number) => (): readonly Sample<'name'>[] => [[NAME, value(read())]];
  registry.read(
    'gauge',
    'workqueue_depth',
    '[ALPHA] Services that wait',
    one(({ depth }) => depth),
  );
  registry.read(
    'counter',
    'workqueue_adds_total',
    '[ALPHA] Services that began to wait',
    one(({ adds }) => adds),
  );
  registry.read('counter', 'workqueue_retries_total', '[ALPHA] Services that wait for another try', one(sumOfRetries));
  registry.readHistograms('workqueue_queue_duration_seconds', '[ALPHA] How long a Service waits for its pass', () => [
    [NAME, joined(Object.values(read().latency))],
  ]);
  registry.readHistograms('workqueue_work_duration_seconds', '[ALPHA] How long a Service is in a pass', () => [
    [NAME, read().workDuration],
  ]);
  registry.read(
    'gauge',
    'workqueue_unfinished_work_seconds',
    '[ALPHA] Time in the pass in progress of all its Services',
    one(({ unfinishedSeconds }) => unfinishedSeconds),
  );
  registry.read(
    'gauge',
    'workqueue_longest_running_processor_seconds',
    '[ALPHA] Time in the pass in progress of the Service that is longest in it',
    one(({ longestRunningSeconds }) => longestRunningSeconds),
  );
  ownMetrics(registry, read, quarantined);
}

function ownMetrics(registry: MetricsRegistry, read: () => QueueReading, quarantined: () => number): void {
  const counters = (name: string, help: string, label: string, values: (reading: QueueReading) => object) =>
    registry.read('counter', `ipvs_proxier_${name}`, help, () =>
      Object.entries(values(read())).map(([value, count]): Sample => [{ [label]: value }, Number(count)]),
    );
  counters('events_total', 'Changes of Services by level', 'level', ({ eventsByLevel }) => eventsByLevel);
  counters('events_by_kind_total', 'Changes of Services by kind', 'kind', ({ eventsByKind }) => eventsByKind);
  counters('dropped_events_total', 'Events that led to nothing', 'reason', ({ dropped }) => dropped);
  counters('queue_retries_total', 'Services put back by the pace of their tries', 'sort', ({ retries }) => retries);
  counters('services_taken_total', 'Services taken into passes', 'why', ({ takenFor }) => takenFor);
  registry.readHistograms('ipvs_proxier_queue_latency_seconds', 'From an event to the pass of its Service', () =>
    Object.entries(read().latency).map(([level, reading]) => [{ level }, reading] as const),
  );
  registry.read('gauge', 'ipvs_proxier_quarantined_services', 'Services that keep failing', () => [
    [{}, quarantined()],
  ]);
}

const NAME = { name: 'services' } as const;

function sumOfRetries({ retries }: QueueReading): number {
  return Object.values(retries).reduce((sum, count) => sum + count, 0);
}

/** All of them together; they have the same bounds. */
function joined(readings: readonly HistogramReading[]): HistogramReading {
  const empty = new Histogram([]).read();
  return readings.reduce(
    (sum, { buckets, count, sum: total }) => ({
      buckets: buckets.map(({ upTo, count: more }, index) => ({
        upTo,
        count: more + (sum === empty ? 0 : (sum.buckets[index]?.count ?? 0)),
      })),
      count: sum.count + count,
      sum: sum.sum + total,
    }),
    empty,
  );
}
