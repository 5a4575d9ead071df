import { expect } from 'chai';
import { QueueMetrics } from './queue-metrics.ts';

describe('queue/queue-metrics', () => {
  it('counts what waits and what began to, and events by level and kind', () => {
    const metrics = new QueueMetrics();
    metrics.event('low', 'minor', 'new');
    metrics.event('high', 'port-update', 'joined');
    metrics.event('high', 'port-update', 'new');
    metrics.taken('shop/cart', 'high', 'due', 100, 0);
    const { depth, adds, eventsByLevel, eventsByKind } = metrics.read(0);
    expect({ depth, adds }).to.deep.equal({ depth: 1, adds: 2 });
    expect(eventsByLevel).to.deep.equal({ critical: 0, high: 2, normal: 0, low: 1 });
    expect(eventsByKind).to.include({ minor: 1, 'port-update': 2, 'service-added': 0 });
  });

  it('measures waiting by level and work in seconds', () => {
    const metrics = new QueueMetrics();
    metrics.taken('shop/cart', 'high', 'due', 100, 5_000);
    metrics.taken('shop/other', 'low', 'riding-along', 2_000, 5_000);
    metrics.finished('shop/cart', 'applied', 5_300);
    const { latency, workDuration, takenFor, outcomes } = metrics.read(6_000);
    expect([latency.high.sum, latency.low.sum, latency.critical.count]).to.deep.equal([0.1, 2, 0]);
    expect([workDuration.count, workDuration.sum]).to.deep.equal([1, 0.3]);
    expect(takenFor).to.deep.equal({ due: 1, 'full-batch': 0, retry: 0, 'riding-along': 1 });
    expect(outcomes).to.deep.equal({ applied: 1, failed: 0, untried: 0 });
  });

  it('knows how long what is in a pass has been so', () => {
    const metrics = new QueueMetrics();
    metrics.taken('shop/cart', 'high', 'due', 0, 1_000);
    metrics.taken('shop/other', 'high', 'due', 0, 3_000);
    expect(metrics.read(4_000)).to.include({ unfinishedSeconds: 4, longestRunningSeconds: 3 });
    metrics.finished('shop/cart', 'failed', 4_000);
    expect(metrics.read(4_500)).to.include({ unfinishedSeconds: 1.5, longestRunningSeconds: 1.5 });
    metrics.finished('shop/other', 'untried', 5_000);
    expect(metrics.read(6_000)).to.include({ unfinishedSeconds: 0, longestRunningSeconds: 0 });
  });

  it('counts retries by sort, and what was dropped by reason', () => {
    const metrics = new QueueMetrics();
    metrics.retried('update', 'new');
    metrics.retried('update', 'joined');
    metrics.drop('immaterial');
    const { retries, dropped, depth, adds } = metrics.read(0);
    expect(retries).to.deep.equal({ readiness: 0, update: 2, minor: 0 });
    expect(dropped).to.deep.equal({ 'same-version': 0, immaterial: 1, 'not-ours': 0 });
    expect({ depth, adds }).to.deep.equal({ depth: 1, adds: 0 });
  });
});
