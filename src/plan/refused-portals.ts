import { ownSets } from '../kernel/ipset/definitions.ts';
import { addressPortEntry, type IpSet, type IpsetState, type SetEntry } from '../kernel/ipset/state.ts';
import type { IpvsState } from '../kernel/ipvs/state.ts';
import type { KernelState } from '../kernel/state.ts';
import type { Family } from '../net/family.ts';
import type { Refused } from './refused.ts';

/** Entries that let clients past the filter, and that do not go. */
export function stuckPortals(sets: IpsetState, refused: readonly Refused[], family: Family): ReadonlySet<SetEntry> {
  const { portals } = ownSets(family);
  const entries = refused.flatMap((each) =>
    each.kind === 'set-entry' && each.change && portals.has(each.set) && sets.get(each.set)?.entries.has(each.entry)
      ? [each.entry]
      : [],
  );
  return new Set(entries);
}

/** Nobody is let in to a virtual server that is left out. `stuck`: entries that do not go. */
export function withoutPortals(
  sets: IpsetState,
  desired: KernelState,
  { ipvs, stuck }: { readonly ipvs: IpvsState; readonly stuck: ReadonlySet<SetEntry> },
): IpsetState {
  const { portals } = ownSets(desired.family);
  const leftOut = [...desired.ipvs].flatMap(([key, { address, protocol, port }]) =>
    ipvs.has(key) ? [] : [addressPortEntry(address, protocol, port)],
  );
  if (leftOut.length === 0) return sets;
  const entries = new Set(leftOut).difference(stuck);
  const shut = (set: IpSet) => (portals.has(set.name) ? { ...set, entries: set.entries.difference(entries) } : set);
  return new Map([...sets].map(([name, set]) => [name, shut(set)]));
}
