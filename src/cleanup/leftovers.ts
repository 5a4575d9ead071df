import type { IpsetState } from '../kernel/ipset/state.ts';
import type { EveryTable } from '../kernel/iptables/state.ts';
import type { IpvsState } from '../kernel/ipvs/state.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import type { Family } from '../net/family.ts';

/** What a node shows of us and of others. What could not be read is empty. */
export interface Leftovers {
  readonly ipvs: IpvsState;
  readonly sets: IpsetState;
  readonly interfaces: InterfaceAddresses;
  /** Whether `kube-ipvs0`, if it is there, is a dummy interface, as we make it. */
  readonly isDummy: boolean;
  readonly tables: Readonly<Partial<Record<Family, EveryTable>>>;
}

/** How many of each kind go. */
export interface Removed {
  readonly virtualServers: number;
  readonly addresses: number;
  readonly interfaces: number;
  readonly chains: number;
  /** In chains that stay. */
  readonly rules: number;
  readonly sets: number;
  /** Whole tables of nftables. */
  readonly tables: number;
}

export const NOTHING_REMOVED: Removed = {
  virtualServers: 0,
  addresses: 0,
  interfaces: 0,
  chains: 0,
  rules: 0,
  sets: 0,
  tables: 0,
};

/** Something that has one of our names, or looks like ours, and stays. */
export interface Kept {
  /** E.g. `set KUBE-CLUSTER-IP`. */
  readonly what: string;
  readonly why: string;
}

/** What was to be removed first and is not to be removed now. */
export function removedBetween(first: Removed, last: Removed): Removed {
  const kinds = Object.keys(first) as (keyof Removed)[];
  return Object.fromEntries(kinds.map((kind) => [kind, Math.max(0, first[kind] - last[kind])])) as unknown as Removed;
}

/** `removed 2 virtual servers, 1 address, interface kube-ipvs0, 40 sets`; `undefined` when it is nothing. */
export function describeRemoved(removed: Removed): string | undefined {
  const counted = (count: number, one: string, many: string) =>
    count === 0 ? [] : [count === 1 ? `1 ${one}` : `${count} ${many}`];
  const parts = [
    ...counted(removed.virtualServers, 'virtual server', 'virtual servers'),
    ...counted(removed.addresses, 'address', 'addresses'),
    ...(removed.interfaces > 0 ? ['interface kube-ipvs0'] : []),
    ...counted(removed.chains, 'chain', 'chains'),
    ...counted(removed.rules, 'rule of other chains', 'rules of other chains'),
    ...counted(removed.sets, 'set', 'sets'),
    ...counted(removed.tables, 'table', 'tables'),
  ];
  return parts.length === 0 ? undefined : `removed ${parts.join(', ')}`;
}
