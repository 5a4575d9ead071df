import { ownSets } from '../kernel/ipset/definitions.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import { addressPortEntry, type IpsetState, type SetEntry } from '../kernel/ipset/state.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import type { KernelState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';

/**
 * Tells the steps that make virtual servers at addresses that are `bound` already. They come empty, and so refuse everybody, before the
 * entries that let their clients past the filter: else these would get to whatever listens on the node.
 */
export function comesEmpty(
  { family, sets }: Pick<KernelState, 'family' | 'sets'>,
  standing: IpsetState,
  bound: ReadonlySet<IpAddress>,
): (step: IpvsStep) => boolean {
  const portals = [...ownSets(family).portals];
  const isLetIn = (state: IpsetState, entry: SetEntry) => portals.some((name) => state.get(name)?.entries.has(entry));
  return ({ kind, server }) =>
    kind === 'add-virtual-server' &&
    bound.has(server.address) &&
    isLetIn(sets, entryOf(server)) &&
    !isLetIn(standing, entryOf(server));
}

/** What has to be done before virtual servers are deleted whose addresses stay. */
export interface Shutting {
  /**
   * They lose their real servers, and so refuse everybody: without its entries the node itself would be served, and get no answer. Not where
   * that is so much that others would wait for it.
   */
  readonly empties: readonly IpvsStep[];
  /** Then they lose the entries that let their clients past the filter. */
  readonly shuts: (step: IpsetStep) => boolean;
}

/** `stay`: addresses that are bound before and after. */
export function shutting(
  { family }: Pick<KernelState, 'family'>,
  removals: readonly IpvsStep[],
  stay: ReadonlySet<IpAddress>,
): Shutting {
  const { portals } = ownSets(family);
  const ending = removals.flatMap(({ kind, server }) =>
    kind === 'delete-virtual-server' && stay.has(server.address) ? [server] : [],
  );
  const entries = new Set(ending.map(entryOf));
  const empties = ending.flatMap((server) =>
    server.realServers.map((real): IpvsStep => ({ kind: 'delete-real-server', server, real })),
  );
  return {
    empties: empties.length > MOST_EMPTIED ? [] : empties,
    shuts: (step) => step.kind === 'delete-entry' && portals.has(step.set.name) && entries.has(step.entry),
  };
}

/** A virtual server is deleted as fast as one of its real servers, however many it has. */
const MOST_EMPTIED = 2000;

function entryOf({ address, protocol, port }: VirtualServer): SetEntry {
  return addressPortEntry(address, protocol, port);
}
