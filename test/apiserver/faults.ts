import type { ApiRequest } from './requests.ts';

/** What a fault does to a request: answer with a status, never answer, or break the connection. */
export type FaultEffect =
  | { readonly kind: 'refuse'; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' };

/** An order to spoil the next `times` requests that match. */
export interface Fault {
  readonly effect: FaultEffect;
  /** 1 when absent; Infinity for good. */
  readonly times?: number;
  /** Every request when absent. */
  readonly matching?: (request: ApiRequest) => boolean;
}

/** The faults that are still to happen, in the order they were asked for. */
export class Faults {
  #pending: { readonly fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#pending.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#pending = [];
  }

  /** The effect on this request, used up by the call; undefined when it is to be served. */
  take(request: ApiRequest): FaultEffect | undefined {
    const hit = this.#pending.find(({ fault }) => fault.matching?.(request) ?? true);
    if (hit === undefined) return undefined;
    hit.left -= 1;
    this.#pending = this.#pending.filter(({ left }) => left > 0);
    return hit.fault.effect;
  }
}
