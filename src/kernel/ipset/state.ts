import type { Cidr } from '../../net/cidr.ts';
import type { Family } from '../../net/family.ts';
import type { IpAddress } from '../../net/ip-address.ts';
import type { Port } from '../../net/port.ts';
import type { Protocol } from '../../net/protocol.ts';
import { SET_DEFINITIONS, type SetDefinition, type SetType, setName } from './definitions.ts';

declare const brand: unique symbol;

/** An entry as `ipset save` prints it, e.g. `10.180.0.1,tcp:8080,10.180.0.1`. */
export type SetEntry = string & { readonly [brand]: 'SetEntry' };

export interface IpSet {
  readonly name: string;
  readonly type: SetType | string;
  /** `undefined` for bitmaps, which know no family. */
  readonly family: Family | undefined;
  /** Most entries a hash takes; `undefined` for bitmaps. */
  readonly maxEntries: number | undefined;
  /** What makes the set another one than its type says, e.g. `timeout 60` or `nomatch`; none in a wanted set. */
  readonly oddities: readonly string[];
  readonly entries: ReadonlySet<SetEntry>;
}

/** Sets by name. */
export type IpsetState = ReadonlyMap<string, IpSet>;

/** What kube-proxy gives every hash; the kernel refuses the entry after the last. */
export const MAX_ENTRIES = 65536;

/** The most that a hash has to be made for to hold so many entries: `least`, doubled as often as it takes. */
export function maxEntriesFor(entries: number, least: number): number {
  return entries <= least ? least : least * 2 ** Math.ceil(Math.log2(entries / least));
}

/** The sets of a family, empty: the frame into which entries go. */
export function emptySets(
  family: Family,
  definitions: readonly SetDefinition[] = SET_DEFINITIONS,
  maxEntries = MAX_ENTRIES,
): Map<string, IpSet> {
  return new Map(
    definitions.map(({ id, type }): [string, IpSet] => {
      const name = setName(id, family);
      const hash = type !== 'bitmap:port';
      const parameters = hash ? { family, maxEntries } : { family: undefined, maxEntries: undefined };
      return [name, { name, type, ...parameters, oddities: [], entries: new Set() }];
    }),
  );
}

/** The set with these entries, large enough for them. */
export function withEntries(set: IpSet, entries: ReadonlySet<SetEntry>): IpSet {
  return { ...set, maxEntries: set.maxEntries && maxEntriesFor(entries.size, set.maxEntries), entries };
}

export function addressEntry(address: IpAddress): SetEntry {
  return address as string as SetEntry;
}

export function portEntry(port: Port): SetEntry {
  return `${port}` as SetEntry;
}

/** `ADDRESS,proto:PORT` */
export function addressPortEntry(address: IpAddress, protocol: Protocol, port: Port): SetEntry {
  return `${address},${protocol.toLowerCase()}:${port}` as SetEntry;
}

/** `ADDRESS,proto:PORT,SOURCE`; a source network of one host has no length, as ipset prints it. */
export function addressPortSourceEntry(
  address: IpAddress,
  protocol: Protocol,
  port: Port,
  source: IpAddress | Cidr,
): SetEntry {
  const plain = source.replace(source.includes(':') ? /\/128$/ : /\/32$/, '');
  return `${address},${protocol.toLowerCase()}:${port},${plain}` as SetEntry;
}
