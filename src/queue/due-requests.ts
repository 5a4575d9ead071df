import { type Level, moreUrgent } from './change.ts';
import type { CancelTimer, Clock } from './clock.ts';
import type { DueListener } from './service-queue.ts';

/** What starts passes; the bounded-frequency runner is one. */
export interface PassRequester {
  request(reason: string): void;
}

/**
 * Turns "something is due then" into a request for a pass when the time has come, the level being the reason. What is due now asks at
 * once, so that a critical change waits for nothing but the runner's minimum. What went along with an earlier pass asks for nothing.
 */
export class DueRequests implements DueListener {
  readonly #clock: Clock;
  readonly #runner: PassRequester;
  /** Asked for since the last pass took what was due. */
  readonly #requested = new Set<Level>();
  #nextMs = Number.POSITIVE_INFINITY;
  #nextLevel: Level = 'low';
  #cancelTimer: CancelTimer = () => {};

  constructor(clock: Clock, runner: PassRequester) {
    this.#clock = clock;
    this.#runner = runner;
  }

  dueAt(dueMs: number, level: Level): void {
    const nowMs = this.#clock.nowMs();
    if (dueMs <= nowMs) this.#request(level);
    else if (dueMs === this.#nextMs) this.#nextLevel = moreUrgent(level, this.#nextLevel);
    else if (dueMs < this.#nextMs) {
      this.#nextMs = dueMs;
      this.#nextLevel = level;
      this.#arm(nowMs);
    }
  }

  taken(): void {
    this.#requested.clear();
    this.#cancelTimer();
    this.#nextMs = Number.POSITIVE_INFINITY;
  }

  #request(level: Level): void {
    if (this.#requested.has(level)) return;
    this.#requested.add(level);
    this.#runner.request(level);
  }

  #arm(nowMs: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(Math.min(this.#nextMs - nowMs, LONGEST_TIMER_MS), () => this.#wake());
  }

  /** Timers may fire a little early, and those for long waits do. */
  #wake(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#nextMs) this.#arm(nowMs);
    else {
      this.#nextMs = Number.POSITIVE_INFINITY;
      this.#request(this.#nextLevel);
    }
  }
}

/** What `setTimeout` can wait for. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
