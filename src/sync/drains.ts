import type { KeptServer } from '../kernel/ipvs/diff.ts';
import {
  type RealServerKey,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from '../kernel/ipvs/state.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** A real server that waits for its last connection to end. */
export interface Drain {
  readonly server: VirtualServerKey;
  readonly real: RealServerKey;
  /** When it was seen first, on the clock of the pass. */
  readonly sinceMs: number;
}

/** Which virtual servers a pass was about. */
export interface PassedServers {
  readonly scope: ReadonlySet<VirtualServerKey> | 'everything';
  readonly looked: ReadonlySet<VirtualServerKey> | 'everything';
}

interface DrainingServer {
  readonly server: VirtualServer;
  readonly lingers: boolean;
  readonly sinceMs: ReadonlyMap<RealServerKey, number>;
  readonly everyMs: number;
  readonly nextMs: number;
}

/**
 * The real servers of one family that drain: since when, and when it is time to look whether one is done. That is soon after it began and
 * then less and less often, and the virtual servers without any are never looked at. What drains is told by the kernel, where it has weight
 * 0; so nothing is lost with the program but the time that it has taken already.
 */
export class Drains {
  readonly #limitMs: number;
  readonly #servers = new Map<VirtualServerKey, DrainingServer>();

  /** `limitMs`: a drain that takes longer is over; 0 for no limit. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  get count(): number {
    return [...this.#servers.values()].reduce((sum, { sinceMs }) => sum + sinceMs.size, 0);
  }

  all(): readonly Drain[] {
    return [...this.#servers].flatMap(([server, { sinceMs }]) =>
      [...sinceMs].map(([real, since]) => ({ server, real, sinceMs: since })),
    );
  }

  /** It is not wanted any more, and stays until it is done. */
  lingers(server: VirtualServerKey): boolean {
    return this.#servers.get(server)?.lingers ?? false;
  }

  isOver(server: VirtualServerKey, real: RealServerKey, nowMs: number): boolean {
    const since = this.#servers.get(server)?.sinceMs.get(real);
    return this.#limitMs > 0 && since !== undefined && nowMs - since >= this.#limitMs;
  }

  /**
   * Virtual servers that it is time to look at; of those that are not wanted any more all there is to them. `isTaken`: tells the addresses at which
   * none of these may linger.
   */
  due(
    nowMs: number,
    isTaken: (address: IpAddress) => boolean = () => false,
  ): { readonly servers: readonly VirtualServerKey[]; readonly lingering: readonly VirtualServer[] } {
    const due = [...this.#servers].filter(
      ([, { nextMs, lingers, server }]) => nextMs <= nowMs || (lingers && isTaken(server.address)),
    );
    return {
      servers: due.map(([key]) => key),
      lingering: due.flatMap(([, { server, lingers }]) => (lingers ? [server] : [])),
    };
  }

  /** Milliseconds until it is time to look at one; `undefined` when nothing drains. */
  untilDueMs(nowMs: number): number | undefined {
    if (this.#servers.size === 0) return undefined;
    const next = [...this.#servers.values()].reduce((soonest, { nextMs }) => Math.min(soonest, nextMs), Infinity);
    return Math.max(0, next - nowMs);
  }

  /**
   * A pass over the virtual servers of `scope` has left these. Only those of `looked` had their connections counted for it; it puts off no
   * look at the others.
   */
  passed({ scope, looked }: PassedServers, kept: readonly KeptServer[], nowMs: number): void {
    const draining = kept.filter((each) => each.why === 'draining');
    const lingering = new Set(
      kept.flatMap(({ why, server }) => (why === 'lingering' ? [virtualServerKey(server)] : [])),
    );
    const left = Map.groupBy(draining, ({ server }) => virtualServerKey(server));
    for (const key of scope === 'everything' ? [...this.#servers.keys()] : scope) {
      if (!left.has(key)) this.#servers.delete(key);
    }
    for (const [key, reals] of left) {
      const [first] = reals;
      const before = this.#servers.get(key);
      const since = reals
        .map(({ real }) => realServerKey(real))
        .map((real) => [real, before?.sinceMs.get(real)] as const);
      const isNew = since.some(([, known]) => known === undefined);
      const wasLooked = looked === 'everything' || looked.has(key);
      const everyMs =
        isNew || !before ? FIRST_LOOK_MS : wasLooked ? Math.min(2 * before.everyMs, RARE_LOOK_MS) : before.everyMs;
      const sinceMs = new Map(since.map(([real, known]) => [real, known ?? nowMs]));
      const overMs = this.#limitMs > 0 ? Math.min(...sinceMs.values()) + this.#limitMs : Infinity;
      const lookMs = before && !wasLooked ? Math.min(before.nextMs, nowMs + everyMs) : nowMs + everyMs;
      const nextMs = Math.max(nowMs + 1, Math.min(lookMs, overMs));
      if (first) {
        this.#servers.set(key, { server: first.server, lingers: lingering.has(key), sinceMs, everyMs, nextMs });
      }
    }
  }
}

const FIRST_LOOK_MS = 1000;
const RARE_LOOK_MS = 30_000;
