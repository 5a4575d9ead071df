import { ownSets } from '../kernel/ipset/definitions.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import { addressPortEntry, type IpsetState, type SetEntry } from '../kernel/ipset/state.ts';
import type { ReadTables } from '../kernel/iptables/state.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import type { IpvsState, VirtualServer } from '../kernel/ipvs/state.ts';
import type { KernelState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { closedToNode } from './closed-frontends.ts';
import { frontendOf } from './entry-frontend.ts';

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

/**
 * Tells the steps that take away what lets clients past the filter to frontends without a virtual server: nobody is served there, so that they
 * can go before an address comes by which whatever else listens on the node would be reached.
 */
export function leadsNowhere(
  { family }: Pick<KernelState, 'family'>,
  standing: IpvsState,
): (step: IpsetStep) => boolean {
  const { portals } = ownSets(family);
  return (step) => {
    if (step.kind !== 'delete-entry' || !portals.has(step.set.name)) return false;
    const key = frontendOf(step.entry);
    return key !== undefined && !standing.has(key);
  };
}

/** What has to be done before virtual servers are deleted. */
export interface Shutting {
  /** Those lose their real servers that are closed to the node itself: the rule that does it holds no longer than their address stands. */
  readonly closed: readonly IpvsStep[];
  /**
   * Those whose addresses stay do, too, once other addresses have gone:
   * without its entries a frontend would serve the node itself, in vain. Not where that is so much that others would wait for it.
   */
  readonly empties: readonly IpvsStep[];
  /** Then these lose the entries that let their clients past the filter. */
  readonly shuts: (step: IpsetStep) => boolean;
}

/** `stay`: addresses that are bound when virtual servers are deleted. */
export function shutting(
  { family }: Pick<KernelState, 'family'>,
  removals: readonly IpvsStep[],
  stay: ReadonlySet<IpAddress>,
  { filter }: Pick<ReadTables, 'filter'>,
): Shutting {
  const { portals } = ownSets(family);
  const deleted = removals.flatMap(({ kind, server }) => (kind === 'delete-virtual-server' ? [server] : []));
  const ending = deleted.filter(({ address }) => stay.has(address));
  const isClosed = closedToNode(filter);
  const closed = deleted.filter((server) => !stay.has(server.address) && isClosed(server));
  const entries = new Set(ending.map(entryOf));
  const empties = ending.flatMap(emptying);
  return {
    closed: closed.flatMap(emptying),
    empties: empties.length > MOST_EMPTIED ? [] : empties,
    shuts: (step) => step.kind === 'delete-entry' && portals.has(step.set.name) && entries.has(step.entry),
  };
}

function emptying(server: VirtualServer): readonly IpvsStep[] {
  return server.realServers.map((real) => ({ kind: 'delete-real-server', server, real }));
}

/** A virtual server is deleted as fast as one of its real servers, however many it has. */
const MOST_EMPTIED = 2000;

function entryOf({ address, protocol, port }: VirtualServer): SetEntry {
  return addressPortEntry(address, protocol, port);
}
