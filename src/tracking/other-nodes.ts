import type { IpAddress } from '../net/ip-address.ts';

/** The addresses of all other Nodes, counted by the Nodes that have them, so that a change costs what changed and not what there is. */
export class OtherNodes {
  readonly #uses = new Map<IpAddress, number>();
  #own: ReadonlySet<IpAddress> = new Set();
  #known: ReadonlySet<IpAddress> = new Set();
  #stale = false;

  /** What the own Node has is nobody else's, even if another Node claims it too. */
  recordOwn(addresses: readonly IpAddress[]): void {
    const own = new Set(addresses);
    const differing = this.#own.symmetricDifference(own);
    this.#own = own;
    this.#stale ||= [...differing].some((address) => this.#uses.has(address));
  }

  /** Addresses of one other Node before and after. True when {@link addresses} differ. */
  recordOther(previous: readonly IpAddress[], current: readonly IpAddress[]): boolean {
    let changed = false;
    for (const address of current) {
      const uses = this.#uses.get(address) ?? 0;
      this.#uses.set(address, uses + 1);
      if (uses === 0 && !this.#own.has(address)) changed = true;
    }
    for (const address of previous) {
      const left = (this.#uses.get(address) ?? 0) - 1;
      if (left > 0) this.#uses.set(address, left);
      else this.#uses.delete(address);
      if (left <= 0 && !this.#own.has(address)) changed = true;
    }
    this.#stale ||= changed;
    return changed;
  }

  /** Without those of the own Node; the same object until something of it has changed. */
  addresses(): ReadonlySet<IpAddress> {
    if (!this.#stale) return this.#known;
    this.#stale = false;
    const now = new Set(this.#uses.keys().filter((address) => !this.#own.has(address)));
    if (now.size !== this.#known.size || !now.isSubsetOf(this.#known)) this.#known = now;
    return this.#known;
  }
}
