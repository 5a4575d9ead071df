import type { z } from 'zod';
import { DEFAULT_QUEUE_SETTINGS, QUEUE_BOUNDS, type RetryPace } from '../queue/settings.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { field, integer, ratio, section } from './fields.ts';

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
    critical: delay(0).default(levelDelaysMs.critical),
    high: delay(0).default(levelDelaysMs.high),
    normal: delay(0).default(levelDelaysMs.normal),
    low: delay(0).default(levelDelaysMs.low),
  }),
  batchSize: integer(1).default(counts.batchSize),
  batchWindow: delay(0).default(counts.batchWindowMs),
  retries: section({
    readiness: fastThenSlow(retries.readiness),
    update: exponential(retries.update),
    minor: fastThenSlow(retries.minor),
  }),
  retryJitter: ratio().default(counts.retryJitterRatio),
  passesPerSecond: passRate().default(counts.passesPerSecond),
  passBurst: integer(1, QUEUE_BOUNDS.mostPassBurst).default(counts.passBurst),
  runnerBurst: integer(1, QUEUE_BOUNDS.mostPassBurst).default(counts.runnerBurst),
  quarantineAfterFailures: integer(1).default(counts.quarantineAfterFailures),
});

export type QueueSection = z.output<typeof queueSection>;

/** A duration, as milliseconds. */
function delay(leastMs: number) {
  const { longestDelayMs } = QUEUE_BOUNDS;
  const range = `from ${formatDuration(leastMs)} to ${formatDuration(longestDelayMs)}`;
  return field(`a duration ${range} with its unit, such as "500ms" or "1m30s"`, (value) => {
    const durationMs = value === 0 ? 0 : typeof value === 'string' ? parseDuration(value) : undefined;
    return durationMs !== undefined && durationMs >= leastMs && durationMs <= longestDelayMs ? durationMs : undefined;
  });
}

function passRate() {
  const { fewestPassesPerSecond: fewest, mostPassesPerSecond: most } = QUEUE_BOUNDS;
  return field(`a number of passes a second from ${fewest} to ${most}`, (value) =>
    typeof value === 'number' && value >= fewest && value <= most ? value : undefined,
  );
}

function fastThenSlow(byDefault: RetryPace) {
  if (byDefault.kind !== 'fast-then-slow') throw new TypeError(`no fields for a pace that is ${byDefault.kind}`);
  return section({
    fast: delay(QUEUE_BOUNDS.shortestRetryMs).default(byDefault.fastMs),
    fastTries: integer(0).default(byDefault.fastTries),
    slow: delay(QUEUE_BOUNDS.shortestRetryMs).default(byDefault.slowMs),
  });
}

function exponential(byDefault: RetryPace) {
  if (byDefault.kind !== 'exponential') throw new TypeError(`no fields for a pace that is ${byDefault.kind}`);
  return section({
    base: delay(QUEUE_BOUNDS.shortestRetryMs).default(byDefault.baseMs),
    max: delay(QUEUE_BOUNDS.shortestRetryMs).default(byDefault.maxMs),
  });
}
