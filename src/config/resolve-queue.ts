import type { QueueSettings, RetryPace } from '../queue/settings.ts';
import type { QueueSection } from './queue-section.ts';

/** The checked section `queue` as the queue takes it. */
export function resolveQueue(queue: QueueSection): QueueSettings {
  const { readiness, update, minor } = queue.retries;
  return {
    thresholds: queue.thresholds,
    levelDelaysMs: queue.delays,
    batchSize: queue.batchSize,
    batchWindowMs: queue.batchWindow,
    retries: {
      readiness: fastThenSlow(readiness),
      update: { kind: 'exponential', baseMs: update.base, maxMs: update.max },
      minor: fastThenSlow(minor),
    },
    retryJitterRatio: queue.retryJitter,
    passesPerSecond: queue.passesPerSecond,
    passBurst: queue.passBurst,
    runnerBurst: queue.runnerBurst,
    quarantineAfterFailures: queue.quarantineAfterFailures,
  };
}

function fastThenSlow({ fast, fastTries, slow }: QueueSection['retries']['minor']): RetryPace {
  return { kind: 'fast-then-slow', fastMs: fast, fastTries, slowMs: slow };
}
