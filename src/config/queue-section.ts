import type { z } from 'zod';
import { DEFAULT_QUEUE_SETTINGS, type RetryPace } from '../queue/settings.ts';
import { duration, integer, rate, ratio, section } from './fields.ts';

const { thresholds, levelDelaysMs, retries, ...counts } = DEFAULT_QUEUE_SETTINGS;

/**
 * Section `queue` of the second document: every number of the queue. Durations come out in milliseconds; rules between fields are in
 * `check-queue.ts`.
 */
export const queueSection = section({
  thresholds: section({
    criticalBelowReadyRatio: ratio().default(thresholds.criticalBelowReadyRatio),
    highBelowReadyRatio: ratio().default(thresholds.highBelowReadyRatio),
    criticalAboveMagnitude: ratio().default(thresholds.criticalAboveMagnitude),
    highAboveMagnitude: ratio().default(thresholds.highAboveMagnitude),
    normalAboveMagnitude: ratio().default(thresholds.normalAboveMagnitude),
  }),
  delays: section({
    critical: duration('not negative').default(levelDelaysMs.critical),
    high: duration('not negative').default(levelDelaysMs.high),
    normal: duration('not negative').default(levelDelaysMs.normal),
    low: duration('not negative').default(levelDelaysMs.low),
  }),
  batchSize: integer(1).default(counts.batchSize),
  batchWindow: duration('not negative').default(counts.batchWindowMs),
  retries: section({
    readiness: fastThenSlow(retries.readiness),
    update: exponential(retries.update),
    minor: fastThenSlow(retries.minor),
  }),
  retryJitter: ratio().default(counts.retryJitterRatio),
  passesPerSecond: rate().default(counts.passesPerSecond),
  passBurst: integer(1).default(counts.passBurst),
  quarantineAfterFailures: integer(1).default(counts.quarantineAfterFailures),
});

export type QueueSection = z.output<typeof queueSection>;

function fastThenSlow(byDefault: RetryPace) {
  if (byDefault.kind !== 'fast-then-slow') throw new TypeError(`no fields for a pace that is ${byDefault.kind}`);
  return section({
    fast: duration('positive').default(byDefault.fastMs),
    fastTries: integer(0).default(byDefault.fastTries),
    slow: duration('positive').default(byDefault.slowMs),
  });
}

function exponential(byDefault: RetryPace) {
  if (byDefault.kind !== 'exponential') throw new TypeError(`no fields for a pace that is ${byDefault.kind}`);
  return section({
    base: duration('positive').default(byDefault.baseMs),
    max: duration('positive').default(byDefault.maxMs),
  });
}
