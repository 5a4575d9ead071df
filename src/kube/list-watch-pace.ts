import type { Clock } from '../queue/clock.ts';
import { sleep } from '../queue/sleep.ts';
import { TokenBucket } from '../queue/token-bucket.ts';

/** Of all that share a pace: 4 requests at once after a while of peace, and one every 2 s on and on. */
const REQUESTS = { perSecond: 0.5, burst: 4 };

/** How to go on after a wait: from the version that is known, or, as another one's version was gone, by a new list. */
export type AfterWait = 'as-before' | 'list-anew';

/** A wait after a failure. */
export interface Wait {
  readonly delayMs: number;
  /** What the server has asked for; nobody is woken sooner. */
  readonly leastMs: number;
  /** Whether it is the server as a whole that has failed, so that news of it ends the wait. */
  readonly cause: 'server' | 'request';
}

interface Sleeper {
  readonly leastMs: number;
  readonly wake: () => void;
  after: AfterWait;
}

/**
 * What the list-watches of one API server share: a number of requests in a given time, which no news can raise, and the news that the server
 * answers again, at which nobody waits any longer than the server has asked for. A server that has forgotten the version of one of them has
 * in most cases begun anew, so that the others need not ask for theirs.
 */
export class RequestPace {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  readonly #sleepers = new Set<Sleeper>();
  #troubled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#bucket = new TokenBucket(REQUESTS, clock.nowMs());
  }

  /** Counts a request that need not wait: the first list, and the watch behind a list. Those that come later wait for it. */
  count(): void {
    this.#bucket.reserve(this.#clock.nowMs());
  }

  /** Waits for the turn among all. */
  async turn(signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const turnMs = this.#bucket.reserve(nowMs);
    if (turnMs > nowMs) await sleep(this.#clock, turnMs - nowMs, signal);
  }

  /** Waits after a failure, or until the server is known to answer; then for the turn among all. */
  async wait({ delayMs, leastMs, cause }: Wait, signal: AbortSignal): Promise<AfterWait> {
    const alarm = new AbortController();
    const wake = () => alarm.abort();
    const sleeper: Sleeper = { leastMs: this.#clock.nowMs() + leastMs, wake, after: 'as-before' };
    if (cause === 'server') {
      this.#troubled = true;
      this.#sleepers.add(sleeper);
    }
    signal.addEventListener('abort', wake);
    if (delayMs > 0) await sleep(this.#clock, delayMs, alarm.signal);
    signal.removeEventListener('abort', wake);
    if (!signal.aborted) await this.turn(signal);
    this.#sleepers.delete(sleeper);
    return sleeper.after;
  }

  /** A watch of one of them goes on. */
  lasting(): void {
    if (this.#troubled) this.#wakeAll('as-before');
  }

  /** The server has answered that a version is gone. True when it had trouble before. */
  expired(): boolean {
    const wasTroubled = this.#troubled;
    if (wasTroubled) this.#wakeAll('list-anew');
    return wasTroubled;
  }

  #wakeAll(after: AfterWait): void {
    this.#troubled = false;
    const nowMs = this.#clock.nowMs();
    for (const sleeper of this.#sleepers) {
      if (sleeper.leastMs > nowMs) continue;
      sleeper.after = after;
      sleeper.wake();
    }
  }
}
