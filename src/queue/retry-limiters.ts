import type { RetrySort } from './change.ts';
import type { QueueSettings, RetryPace } from './settings.ts';

/** The delay after a failure with `earlier` ones right before it, without jitter. */
export function retryDelayMs(pace: RetryPace, earlier: number): number {
  if (pace.kind === 'exponential') return Math.min(pace.maxMs, pace.baseMs * 2 ** earlier);
  return earlier < pace.fastTries ? pace.fastMs : pace.slowMs;
}

/** Counts failures in a row by Service, and says how long each waits for its next try. */
export class RetryLimiters {
  readonly #settings: Pick<QueueSettings, 'retries' | 'retryJitterRatio'>;
  readonly #random: () => number;
  readonly #failures = new Map<string, number>();

  /** `random` gives 0 ≤ x < 1. */
  constructor(settings: Pick<QueueSettings, 'retries' | 'retryJitterRatio'>, random: () => number) {
    this.#settings = settings;
    this.#random = random;
  }

  /** Counts a failure; gives the delay of the next try. Jitter only adds to it, so that no try comes early. */
  failed(service: string, sort: RetrySort): number {
    const earlier = this.failures(service);
    this.#failures.set(service, earlier + 1);
    return retryDelayMs(this.#settings.retries[sort], earlier) * (1 + this.#random() * this.#settings.retryJitterRatio);
  }

  failures(service: string): number {
    return this.#failures.get(service) ?? 0;
  }

  /** The next failure is a first one again. */
  forget(service: string): void {
    this.#failures.delete(service);
  }
}
