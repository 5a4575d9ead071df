export interface QuarantinedService {
  /** `namespace/name`. */
  readonly service: string;
  /** Since when it is left out of the others' passes, by the queue's clock. */
  readonly sinceMs: number;
  /** In a row. */
  readonly failures: number;
}

/** To be told of once: a Service enters quarantine, or leaves it because it was applied. */
export interface QuarantineChange extends QuarantinedService {
  readonly kind: 'quarantined' | 'released';
}

/** Which Services keep failing. A few failures make no quarantine; one success ends it. */
export class Quarantine {
  readonly #afterFailures: number;
  readonly #failing = new Map<string, { failures: number; sinceMs: number }>();
  #size = 0;

  constructor(afterFailures: number) {
    this.#afterFailures = afterFailures;
  }

  get size(): number {
    return this.#size;
  }

  has(service: string): boolean {
    return (this.#failing.get(service)?.failures ?? 0) >= this.#afterFailures;
  }

  /** In the order of their first failures. */
  list(): readonly QuarantinedService[] {
    return [...this.#failing]
      .filter(([service]) => this.has(service))
      .map(([service, state]) => ({ service, ...state }));
  }

  /** Counts a failure; a change when it is the one that leads into quarantine. */
  failed(service: string, nowMs: number): QuarantineChange | undefined {
    const state = this.#failing.get(service) ?? { failures: 0, sinceMs: nowMs };
    this.#failing.set(service, state);
    state.failures += 1;
    if (state.failures !== this.#afterFailures) return undefined;
    state.sinceMs = nowMs;
    this.#size += 1;
    return { kind: 'quarantined', service, ...state };
  }

  /** Forgets the failures; a change when there was a quarantine. */
  applied(service: string): QuarantineChange | undefined {
    const state = this.#failing.get(service);
    if (!state) return undefined;
    const wasQuarantined = this.has(service);
    this.#failing.delete(service);
    if (!wasQuarantined) return undefined;
    this.#size -= 1;
    return { kind: 'released', service, ...state };
  }
}
