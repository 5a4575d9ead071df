import type { Touched } from '../desired/touched.ts';
import type { IpSet, IpsetState } from '../kernel/ipset/state.ts';
import type { ReadTables, WantedTable, WantedTables } from '../kernel/iptables/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';

/** A wanted and an observed state of one family. */
export interface Compared {
  readonly desired: KernelState;
  readonly observed: ObservedState;
}

/**
 * The part of both states that is touched: what differs in all differs in the part, as every step is about one name and looks at nothing
 * else but at whether the address of a virtual server is bound. Sets stay whole where it matters how much is in them. Costs what is touched, not
 * what there is.
 */
export function narrow({ desired, observed }: Compared, touched: Touched): Compared {
  const { servers, addresses, entries, rules } = touched;
  const present = new Map([...desired.sets.keys()].flatMap((name) => setsNamed(observed.sets, name)));
  const wholeSets = new Set(
    [...present.values()]
      .filter((set) => isTight(set, desired.sets.get(set.name), entries.size))
      .map(({ name }) => name),
  );
  const part = (set: IpSet): IpSet =>
    wholeSets.has(set.name) ? set : { ...set, entries: entries.intersection(set.entries) };
  const [ipvs, standing] = [pick(desired.ipvs, servers), pick(observed.ipvs, servers)];
  const around = addresses.union(new Set([...ipvs.values(), ...standing.values()].map(({ address }) => address)));
  return {
    desired: {
      family: desired.family,
      ipvs,
      sets: mapValues(desired.sets, part),
      dummy: { exists: desired.dummy.exists, addresses: around.intersection(desired.dummy.addresses) },
      tables: rules ? desired.tables : NO_TABLES_WANTED,
    },
    observed: {
      family: observed.family,
      ipvs: standing,
      sets: mapValues(present, part),
      dummy: { exists: observed.dummy.exists, addresses: around.intersection(observed.dummy.addresses) },
      tables: rules ? observed.tables : NO_TABLES,
    },
  };
}

const NO_TABLE_WANTED: WantedTable = { chains: new Map(), jumps: [], obsolete: [] };
const NO_TABLES_WANTED: WantedTables = { nat: NO_TABLE_WANTED, filter: NO_TABLE_WANTED };
const NO_TABLES: ReadTables = { nat: new Map(), filter: new Map() };

function setsNamed(sets: IpsetState, name: string): readonly (readonly [string, IpSet])[] {
  const set = sets.get(name);
  return set ? [[name, set]] : [];
}

/** May have to be made anew, in another size. */
function isTight(present: IpSet, wanted: IpSet | undefined, changes: number): boolean {
  const { maxEntries } = present;
  return maxEntries !== wanted?.maxEntries || (maxEntries !== undefined && present.entries.size + changes > maxEntries);
}

function pick<K, V>(map: ReadonlyMap<K, V>, keys: ReadonlySet<K>): ReadonlyMap<K, V> {
  const picked = new Map<K, V>();
  for (const key of keys) {
    const value = map.get(key);
    if (value !== undefined) picked.set(key, value);
  }
  return picked;
}

function mapValues<K, V>(map: ReadonlyMap<K, V>, change: (value: V) => V): ReadonlyMap<K, V> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
