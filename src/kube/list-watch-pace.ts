import type { Clock } from '../queue/clock.ts';
import { sleep } from '../queue/sleep.ts';
import { TokenBucket } from '../queue/token-bucket.ts';

/** Of all that share a pace: at most 9 retries in the first 10 s, and 5 in every 10 s after that. */
const RETRIES = { perSecond: 0.5, burst: 4 };

/** A watch whose version is gone is told so right after it was accepted. */
const SETTLE_MS = 500;

/** How to go on after a wait: from the version that is known, or, as another one's version was gone, by a new list. */
export type AfterWait = 'as-before' | 'list-anew';

interface Sleeper {
  /** Not woken before. */
  readonly leastMs: number;
  readonly wake: (how: AfterWait) => void;
}

/**
 * What the list-watches of one API server share while it has trouble: how many of them try again in a given time, and the news that it
 * answers again, at which nobody waits any longer than the server has asked for. A server that has forgotten the version of one of them has
 * in most cases begun anew, so that the others need not ask for theirs.
 */
export class RetryPace {
  readonly #clock: Clock;
  #bucket: TokenBucket;
  readonly #sleepers = new Set<Sleeper>();
  #troubled = false;
  /** The watch that was accepted last, as long as nobody was told of it. */
  #untold: object | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#bucket = new TokenBucket(RETRIES, clock.nowMs());
  }

  /** Waits `delayMs` after a failure, or until the server is known to answer, but not less than `leastMs`; then for the turn among all. */
  async wait(delayMs: number, leastMs: number, signal: AbortSignal): Promise<AfterWait> {
    this.#troubled = true;
    const how = await this.#doze(delayMs, this.#clock.nowMs() + leastMs, signal);
    if (signal.aborted) return how;
    const nowMs = this.#clock.nowMs();
    const turnMs = this.#bucket.reserve(nowMs);
    const then = turnMs > nowMs ? await this.#doze(turnMs - nowMs, nowMs, signal) : 'as-before';
    return how === 'list-anew' ? how : then;
  }

  /** A list of one of them is complete. */
  answered(): void {
    if (this.#troubled) this.#wakeAll('as-before');
  }

  /** A watch of one of them was accepted. The others hear of it a moment later, unless its version was gone. */
  async accepted(signal: AbortSignal): Promise<void> {
    if (!this.#troubled) return;
    const untold = {};
    this.#untold = untold;
    await sleep(this.#clock, SETTLE_MS, signal);
    if (this.#untold === untold && !signal.aborted) this.answered();
  }

  /** The server has answered that a version is gone. True when it had trouble before. */
  expired(): boolean {
    const wasTroubled = this.#troubled;
    if (wasTroubled) this.#wakeAll('list-anew');
    return wasTroubled;
  }

  #wakeAll(how: AfterWait): void {
    this.#troubled = false;
    this.#untold = undefined;
    const nowMs = this.#clock.nowMs();
    this.#bucket = new TokenBucket(RETRIES, nowMs);
    for (const { leastMs, wake } of this.#sleepers) if (leastMs <= nowMs) wake(how);
  }

  async #doze(ms: number, leastMs: number, signal: AbortSignal): Promise<AfterWait> {
    const alarm = new AbortController();
    let after: AfterWait = 'as-before';
    const sleeper: Sleeper = {
      leastMs,
      wake: (how) => {
        after = how;
        alarm.abort();
      },
    };
    const end = () => alarm.abort();
    this.#sleepers.add(sleeper);
    signal.addEventListener('abort', end);
    await sleep(this.#clock, ms, alarm.signal);
    signal.removeEventListener('abort', end);
    this.#sleepers.delete(sleeper);
    return after;
  }
}
