import type { Clock } from '../queue/clock.ts';

/** How long to wait after failures; the values are those of client-go's reflector. */
const firstMs = 800;
const maxMs = 30_000;
const factor = 2;
const healthyMs = 120_000;

/** Waits that grow with every failure, each anywhere between 0 and its limit, and start again after two minutes without one. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #retryAtMs = Number.NEGATIVE_INFINITY;

  /** `random`: a number from 0 up to 1. */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Milliseconds until the next attempt, at least `leastMs`. Counts as a failure. */
  next(leastMs = 0): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#retryAtMs >= healthyMs) this.#failures = 0;
    const limitMs = Math.min(maxMs, firstMs * factor ** this.#failures);
    const delayMs = Math.max(leastMs, Math.round(this.#random() * limitMs));
    this.#failures += 1;
    this.#retryAtMs = nowMs + delayMs;
    return delayMs;
  }
}
