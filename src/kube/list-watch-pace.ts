import type { Clock } from '../queue/clock.ts';
import { sleep } from '../queue/sleep.ts';
import { TokenBucket } from '../queue/token-bucket.ts';

/** Of all that share a pace: at most 9 retries in the first 10 s, and 5 in every 10 s after that. */
const RETRIES = { perSecond: 0.5, burst: 4 };

interface Sleeper {
  /** Not woken before. */
  readonly leastMs: number;
  readonly wake: () => void;
}

/**
 * What the list-watches of one API server share while it has trouble: how many of them try again in a given time, and the news that it
 * answers again, at which nobody waits any longer than the server has asked for.
 */
export class RetryPace {
  readonly #clock: Clock;
  #bucket: TokenBucket;
  readonly #sleepers = new Set<Sleeper>();
  #troubled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#bucket = new TokenBucket(RETRIES, clock.nowMs());
  }

  /** Waits `delayMs` after a failure, or until the server is known to answer, but not less than `leastMs`; then for the turn among all. */
  async wait(delayMs: number, leastMs: number, signal: AbortSignal): Promise<void> {
    this.#troubled = true;
    await this.#doze(delayMs, this.#clock.nowMs() + leastMs, signal);
    if (signal.aborted) return;
    const nowMs = this.#clock.nowMs();
    const turnMs = this.#bucket.reserve(nowMs);
    if (turnMs > nowMs) await this.#doze(turnMs - nowMs, nowMs, signal);
  }

  /** The server has answered one of them. */
  answered(): void {
    if (!this.#troubled) return;
    this.#troubled = false;
    const nowMs = this.#clock.nowMs();
    this.#bucket = new TokenBucket(RETRIES, nowMs);
    for (const { leastMs, wake } of this.#sleepers) if (leastMs <= nowMs) wake();
  }

  async #doze(ms: number, leastMs: number, signal: AbortSignal): Promise<void> {
    const alarm = new AbortController();
    const wake = () => alarm.abort();
    const sleeper = { leastMs, wake };
    this.#sleepers.add(sleeper);
    signal.addEventListener('abort', wake);
    await sleep(this.#clock, ms, alarm.signal);
    signal.removeEventListener('abort', wake);
    this.#sleepers.delete(sleeper);
  }
}
