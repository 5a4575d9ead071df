import type { Clock } from '../queue/clock.ts';
import { sleep } from '../queue/sleep.ts';
import { TokenBucket } from '../queue/token-bucket.ts';

/** How often the API server may be asked: `burst` requests at once, after that `qps` a second. */
export interface RequestLimits {
  /** Below 0: no limit; 0: 5. */
  readonly qps: number;
  /** 0: 10. */
  readonly burst: number;
}

/** Lets requests wait for their turn. Source: k8s.io/client-go util/flowcontrol, rest/config.go */
export class Throttle {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket | undefined;

  /** `limits`: undefined for none. */
  constructor(clock: Clock, limits: RequestLimits | undefined) {
    const { qps, burst } = limits ?? { qps: -1, burst: 0 };
    this.#clock = clock;
    this.#bucket = qps < 0 ? undefined : new TokenBucket({ perSecond: qps || 5, burst: burst || 10 }, clock.nowMs());
  }

  /** Resolves when the next request may go out, and at once when the signal is aborted. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const waitMs = (this.#bucket?.reserve(nowMs) ?? nowMs) - nowMs;
    if (waitMs > 0) await sleep(this.#clock, waitMs, signal);
  }
}
