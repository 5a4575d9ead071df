import type { CancelTimer, Clock } from './clock.ts';

/** How a run ended: complete, or to be repeated `afterMs` from its end at the latest, for `reason`, which is `retry` unless given. */
export type RunOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason?: string };

export interface RunnerOptions {
  readonly clock: Clock;
  /** Least time from the end of one run to the start of the next; 0 = none. */
  readonly minIntervalMs: number;
  /** A run starts at the latest this long after the end of the last one; more than 0, not less than `minIntervalMs`. */
  readonly maxIntervalMs: number;
  /** Runs that a quiet runner may start on request without waiting in between, 1 or more; 2 unless given. */
  readonly burst?: number;
  /** What is bounded. A rejection is a bug: it ends the runner and is handed on by `finished`. */
  readonly run: (reasons: ReadonlySet<string>) => Promise<RunOutcome>;
}

/**
 * Runs one function again and again, never twice at a time: soon after a request, not too often, and now and then without
 * one. Every request is followed by a run that starts after it, and many requests share a run.
 *
 * - Requests before `start` wait for it; after `stop` they are ignored.
 * - The minimum may be undercut by requests only, `burst - 1` times in a row; each whole minimum of quiet beyond the one
 *   that is due gives one of these back. So any `k` runs in a row have at least `k - burst` minimums of quiet between them.
 * - Retries and periodic runs never undercut it.
 *
 * Source: kubernetes/kubernetes pkg/util/async/bounded_frequency_runner.go (≤ 1.33, burst and RetryAfter),
 * pkg/proxy/runner/bounded_frequency_runner.go (≥ 1.34, minimum from end to start)
 */
export class BoundedFrequencyRunner {
  readonly #options: Required<RunnerOptions>;
  readonly #end = Promise.withResolvers<void>();
  /** Settles when no run is in progress and none will start: fulfilled after `stop`, rejected when a run threw. */
  readonly finished: Promise<void> = this.#end.promise;

  #started = false;
  #running = false;
  #stopping = false;
  readonly #requested = new Set<string>();
  /** When a delayed request becomes one, by its reason. */
  readonly #delayed = new Map<string, number>();
  /** When the last run wants to be repeated. */
  #retryAtMs = Number.POSITIVE_INFINITY;
  #retryReason = 'retry';
  /** The end of the last run, or of starting the runner. */
  #quietSinceMs = 0;
  /** How often a request may still undercut the minimum; the first run counts as one. */
  #spare: number;
  #cancelTimer: CancelTimer = () => {};

  constructor(options: RunnerOptions) {
    const { minIntervalMs, maxIntervalMs, burst = 2 } = options;
    if (!(minIntervalMs >= 0 && maxIntervalMs > 0 && maxIntervalMs >= minIntervalMs && burst >= 1)) {
      throw new RangeError(`impossible bounds: minimum ${minIntervalMs}, maximum ${maxIntervalMs}, burst ${burst}`);
    }
    this.#options = { ...options, burst };
    this.#spare = burst;
  }

  /** Lets runs begin. There is none before the first request or `maxIntervalMs`. To be called once. */
  start(): void {
    if (this.#started) throw new Error('the runner was started before');
    this.#started = true;
    this.#quietSinceMs = this.#options.clock.nowMs();
    this.#arm();
  }

  /** Asks for a run that starts from now on. During a run this leads to one more, however often it is asked. */
  request(reason: string): void {
    this.#requested.add(reason);
    this.#arm();
  }

  /** Asks for a run that starts `delayMs` from now or soon after. Of several with one reason the earliest counts. */
  retryAfter(delayMs: number, reason = 'retry'): void {
    const dueMs = this.#options.clock.nowMs() + delayMs;
    this.#delayed.set(reason, Math.min(dueMs, this.#delayed.get(reason) ?? Number.POSITIVE_INFINITY));
    this.#arm();
  }

  /** Starts no more runs and waits for the one in progress; rejects as `finished` does. */
  stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelTimer();
    if (!this.#running) this.#end.resolve();
    return this.finished;
  }

  #arm(): void {
    if (!this.#started || this.#running || this.#stopping) return;
    this.#cancelTimer();
    const { clock } = this.#options;
    const delayMs = Math.max(0, this.#nextStartMs() - clock.nowMs());
    this.#cancelTimer = clock.after(Math.min(delayMs, LONGEST_TIMER_MS), () => this.#wake());
  }

  /** Timers may fire a little early, and those for long waits do. */
  #wake(): void {
    if (this.#options.clock.nowMs() < this.#nextStartMs()) this.#arm();
    else void this.#runOnce();
  }

  #nextStartMs(): number {
    const allowedMs = this.#quietSinceMs + this.#options.minIntervalMs;
    const periodicMs = this.#quietSinceMs + this.#options.maxIntervalMs;
    const unaskedMs = Math.max(allowedMs, Math.min(periodicMs, this.#retryAtMs, ...this.#delayed.values()));
    if (this.#requested.size === 0) return unaskedMs;
    return this.#spare > 0 ? this.#quietSinceMs : allowedMs;
  }

  async #runOnce(): Promise<void> {
    const { clock, run } = this.#options;
    this.#running = true;
    this.#spare = spareAfterStart(this.#spare, clock.nowMs() - this.#quietSinceMs, this.#options);
    try {
      const outcome = await run(this.#takeReasons());
      this.#quietSinceMs = clock.nowMs();
      this.#retryAtMs = outcome.kind === 'retry' ? this.#quietSinceMs + outcome.afterMs : Number.POSITIVE_INFINITY;
      this.#retryReason = (outcome.kind === 'retry' && outcome.reason) || 'retry';
    } catch (bug) {
      this.#stopping = true;
      this.#end.reject(bug);
    }
    this.#running = false;
    if (this.#stopping) this.#end.resolve();
    else this.#arm();
  }

  #takeReasons(): ReadonlySet<string> {
    const nowMs = this.#options.clock.nowMs();
    const due = [...this.#delayed].filter(([, dueMs]) => dueMs <= nowMs).map(([reason]) => reason);
    const reasons = new Set([...this.#requested, ...due]);
    if (this.#retryAtMs <= nowMs) reasons.add(this.#retryReason);
    if (this.#quietSinceMs + this.#options.maxIntervalMs <= nowMs) reasons.add('periodic');
    for (const reason of due) this.#delayed.delete(reason);
    this.#requested.clear();
    return reasons;
  }
}

/** What `setTimeout` can wait for. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** How often the minimum may still be undercut after a run that starts now, following `quietMs` without one. */
function spareAfterStart(spare: number, quietMs: number, { minIntervalMs, burst }: Required<RunnerOptions>): number {
  const wholeMinimums = minIntervalMs === 0 ? burst : Math.floor(quietMs / minIntervalMs);
  return Math.min(burst - 1, Math.max(0, spare + wholeMinimums - 1));
}
