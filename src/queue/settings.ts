import { LEVELS, type Level, RETRY_SORTS, type RetrySort } from './change.ts';

/** What lifts a change to a level; ratios and magnitudes are 0…1. */
export interface LevelThresholds {
  /** After a change of readiness. */
  readonly criticalBelowReadyRatio: number;
  readonly highBelowReadyRatio: number;
  readonly criticalAboveMagnitude: number;
  readonly highAboveMagnitude: number;
  readonly normalAboveMagnitude: number;
}

/** How long a Service waits after its n-th failure in a row, before jitter. */
export type RetryPace =
  | { readonly kind: 'fast-then-slow'; readonly fastMs: number; readonly fastTries: number; readonly slowMs: number }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly maxMs: number };

/** Every number of the queue. */
export interface QueueSettings {
  readonly thresholds: LevelThresholds;
  /** From an event to the time when its Service is due. */
  readonly levelDelaysMs: Readonly<Record<Level, number>>;
  /** Events of one Service that make it due at once. */
  readonly batchSize: number;
  /** Longest wait after the first event of a Service that is more urgent than `low`, whatever came later; Services in quarantine, too. */
  readonly batchWindowMs: number;
  readonly retries: Readonly<Record<RetrySort, RetryPace>>;
  /** Greatest part of a retry's delay that is added by chance, 0…1. */
  readonly retryJitterRatio: number;
  /** Passes that the queue may start in the long run, and at once after a quiet time. */
  readonly passesPerSecond: number;
  readonly passBurst: number;
  /** Passes that a quiet runner may start on request without its minimum in between. */
  readonly runnerBurst: number;
  /** Failures in a row that keep a Service out of the others' passes. */
  readonly quarantineAfterFailures: number;
}

export const DEFAULT_QUEUE_SETTINGS: QueueSettings = {
  thresholds: {
    criticalBelowReadyRatio: 0.3,
    highBelowReadyRatio: 0.7,
    criticalAboveMagnitude: 0.5,
    highAboveMagnitude: 0.2,
    normalAboveMagnitude: 0.05,
  },
  levelDelaysMs: { critical: 0, high: 100, normal: 500, low: 2_000 },
  batchSize: 10,
  batchWindowMs: 800,
  retries: {
    readiness: { kind: 'fast-then-slow', fastMs: 50, fastTries: 5, slowMs: 2_000 },
    update: { kind: 'exponential', baseMs: 500, maxMs: 60_000 },
    minor: { kind: 'fast-then-slow', fastMs: 2_000, fastTries: 3, slowMs: 10_000 },
  },
  retryJitterRatio: 0.1,
  passesPerSecond: 50,
  passBurst: 100,
  runnerBurst: 2,
  quarantineAfterFailures: 3,
};

/** The ends of what makes sense: no delay is longer than a day, and a pass takes milliseconds. */
export const QUEUE_BOUNDS = {
  longestDelayMs: 24 * 3_600_000,
  shortestRetryMs: 1,
  fewestPassesPerSecond: 0.01,
  mostPassesPerSecond: 1_000,
  mostPassBurst: 10_000,
} as const;

/** Names of settings that no queue can work with; empty when all is well. Delays must not shrink as urgency does. */
export function impossibleSettings(settings: QueueSettings): readonly string[] {
  const { thresholds, levelDelaysMs, retries } = settings;
  const checks: readonly (readonly [string, boolean])[] = [
    ...Object.entries(thresholds).map(([name, value]) => [`thresholds.${name}`, isRatio(value)] as const),
    ...LEVELS.map((level, rank) => [`levelDelaysMs.${level}`, followsDelay(levelDelaysMs, rank)] as const),
    ['batchSize', settings.batchSize >= 1],
    ['batchWindowMs', isDelay(settings.batchWindowMs)],
    ...RETRY_SORTS.map((sort) => [`retries.${sort}`, isPace(retries[sort])] as const),
    ['retryJitterRatio', isRatio(settings.retryJitterRatio)],
    ['passesPerSecond', isPassRate(settings.passesPerSecond)],
    ['passBurst', isBurst(settings.passBurst)],
    ['runnerBurst', isBurst(settings.runnerBurst)],
    ['quarantineAfterFailures', settings.quarantineAfterFailures >= 1],
  ];
  return checks.filter(([, possible]) => !possible).map(([name]) => name);
}

/** A harsher level whose own delay is impossible holds nothing against a milder one. */
function followsDelay(delaysMs: QueueSettings['levelDelaysMs'], rank: number): boolean {
  const [level, harsher] = [LEVELS[rank], LEVELS[rank - 1]];
  if (level === undefined || !isDelay(delaysMs[level])) return false;
  return !harsher || !isDelay(delaysMs[harsher]) || delaysMs[level] >= delaysMs[harsher];
}

function isPace(pace: RetryPace): boolean {
  const { shortestRetryMs } = QUEUE_BOUNDS;
  if (pace.kind === 'exponential')
    return pace.baseMs >= shortestRetryMs && isDelay(pace.maxMs) && pace.maxMs >= pace.baseMs;
  return pace.fastMs >= shortestRetryMs && pace.fastTries >= 0 && isDelay(pace.slowMs) && pace.slowMs >= pace.fastMs;
}

function isPassRate(perSecond: number): boolean {
  return perSecond >= QUEUE_BOUNDS.fewestPassesPerSecond && perSecond <= QUEUE_BOUNDS.mostPassesPerSecond;
}

function isBurst(passes: number): boolean {
  return passes >= 1 && passes <= QUEUE_BOUNDS.mostPassBurst;
}

function isDelay(value: number): boolean {
  return value >= 0 && value <= QUEUE_BOUNDS.longestDelayMs;
}

function isRatio(value: number): boolean {
  return value >= 0 && value <= 1;
}
