import type { Touched } from '../desired/touched.ts';
import type { IpSet, SetEntry } from '../kernel/ipset/state.ts';
import type { ReadTables } from '../kernel/iptables/state.ts';
import type { VirtualServer, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { Result } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { ReadError } from './read-kernel.ts';

/** What one family holds, or why that could not be read. */
export type Known = Result<KnownState, ReadError>;

/** What one family holds as far as it concerns us; it is changed in place, so that a change costs what it changes. */
export interface KnownState extends ObservedState {
  readonly family: Family;
  readonly ipvs: Map<VirtualServerKey, VirtualServer>;
  readonly sets: Map<string, IpSet>;
  readonly dummy: { exists: boolean; readonly addresses: Set<IpAddress> };
  tables: ReadTables;
}

/** A copy that may be changed. Of what is owned already and is in it as well, none is made. */
export function ownedBy({ family, ipvs, sets, dummy, tables }: ObservedState, owned?: KnownState): KnownState {
  return {
    family,
    ipvs: owned && ipvs === owned.ipvs ? owned.ipvs : new Map(ipvs),
    sets: owned && sets === owned.sets ? owned.sets : new Map([...sets].map(([name, set]) => [name, copyOf(set)])),
    dummy: owned && dummy === owned.dummy ? owned.dummy : { exists: dummy.exists, addresses: new Set(dummy.addresses) },
    tables,
  };
}

function copyOf(set: IpSet): IpSet {
  return { ...set, entries: new Set(set.entries) };
}

/** Makes the named part of what is known the same as in `after`, which need not have more than that part. */
export function takeOver(
  known: KnownState,
  after: ObservedState,
  { servers, addresses, entries, rules }: Touched,
): void {
  for (const key of servers) {
    const server = after.ipvs.get(key);
    if (server) known.ipvs.set(key, server);
    else known.ipvs.delete(key);
  }
  for (const address of addresses) {
    if (after.dummy.addresses.has(address)) known.dummy.addresses.add(address);
    else known.dummy.addresses.delete(address);
  }
  for (const [name, set] of after.sets) {
    const present = known.sets.get(name);
    if (!present || present.maxEntries !== set.maxEntries) known.sets.set(name, copyOf(set));
    else takeEntries(present.entries as Set<SetEntry>, set, entries);
  }
  if (rules) known.tables = after.tables;
}

function takeEntries(into: Set<SetEntry>, { entries }: IpSet, touched: ReadonlySet<SetEntry>): void {
  for (const entry of touched) {
    if (entries.has(entry)) into.add(entry);
    else into.delete(entry);
  }
}
