import type { Touched } from '../desired/touched.ts';
import { addressEntry } from '../kernel/ipset/state.ts';
import type { IpAddress } from '../net/ip-address.ts';

/**
 * The addresses of one family that are not wanted any more and stay bound for a while, so that connections whose virtual server is gone are
 * answered with a reset. Only the time is remembered here: another start of the program takes them away at once.
 */
export class ClosingAddresses {
  readonly #forMs: number;
  readonly #untilMs = new Map<IpAddress, number>();

  /** `forMs`: how long each stays; 0 for not at all. */
  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  get count(): number {
    return this.#untilMs.size;
  }

  has(address: IpAddress): boolean {
    return this.#untilMs.has(address);
  }

  /** `isCut`: connections to it are about to lose their virtual server. */
  stays(address: IpAddress, isCut: boolean, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(address);
    return untilMs === undefined ? isCut && this.#forMs > 0 : nowMs < untilMs;
  }

  /** These are about to lose their virtual servers, or have lost them before. */
  begin(addresses: Iterable<IpAddress>, nowMs: number): void {
    for (const address of addresses) {
      if (!this.#untilMs.has(address)) this.#untilMs.set(address, nowMs + this.#forMs);
    }
  }

  /** A pass over the addresses of `scope` has left these. */
  passed(scope: ReadonlySet<IpAddress> | 'everything', left: ReadonlySet<IpAddress>): void {
    for (const address of scope === 'everything' ? [...this.#untilMs.keys()] : scope) {
      if (!left.has(address)) this.#untilMs.delete(address);
    }
  }

  /** What it is time to take away. `isTaken`: tells the addresses that are somebody else's by now. */
  due(nowMs: number, isTaken: (address: IpAddress) => boolean = () => false): Touched {
    const addresses = [...this.#untilMs].flatMap(([address, untilMs]) =>
      untilMs <= nowMs || isTaken(address) ? [address] : [],
    );
    return {
      servers: new Set(),
      addresses: new Set(addresses),
      entries: new Set(addresses.map(addressEntry)),
      rules: false,
    };
  }

  /** Milliseconds until it is time to take one away; `undefined` when there is none. */
  untilDueMs(nowMs: number): number | undefined {
    if (this.#untilMs.size === 0) return undefined;
    return Math.max(0, this.#untilMs.values().reduce((soonest, untilMs) => Math.min(soonest, untilMs)) - nowMs);
  }
}
