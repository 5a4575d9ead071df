import { ownSets, setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, type IpsetState, type SetEntry } from '../kernel/ipset/state.ts';
import { wantedWithoutSets } from '../kernel/iptables/diff.ts';
import { realOfKey } from '../kernel/ipvs/real-servers.ts';
import type { RealServerKey, VirtualServer, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { withoutUnboundReals } from './closed-frontends.ts';
import { addressOf, frontendOf } from './entry-frontend.ts';
import { frontendsOf, frozenServers, missing } from './frozen-servers.ts';
import { ledgerEntries } from './ownership.ts';
import type { Refused } from './refused.ts';
import { stuckPortals, withoutPortals } from './refused-portals.ts';
import { byServer, leftAsItIs, stuckServer, withoutReals } from './refused-servers.ts';
import { entriesLacking, refusedSets, withoutLacking, withStandingSets } from './refused-sets.ts';
import { servedInVain, withRefusals } from './refusing-rules.ts';

/** What stands, as far as it matters here. */
export type Standing = Pick<ObservedState, 'ipvs' | 'sets' | 'dummy'> & Partial<Pick<ObservedState, 'tables'>>;

/** What is wanted for now. */
export interface Reduced {
  readonly desired: KernelState;
  /** Virtual servers among these that nobody wants, and that the kernel does not let go of. */
  readonly stuck: ReadonlySet<VirtualServerKey>;
  /** Sets that cannot be exchanged for others. */
  readonly fixedSets: ReadonlySet<string>;
  /** Sets that no rule may name. */
  readonly lackingSets: readonly string[];
  /** New connections to these are refused by rules, as they would be sent to real servers that were to go. */
  readonly servedInVain: readonly VirtualServer[];
  /** Entries that would guard the node behind an address, and that the kernel does not take. */
  readonly refusedGuards: ReadonlySet<SetEntry>;
}

/**
 * Wants all but what is refused: one thing that the kernel does not take must not keep it from the rest. What was not to be changed or
 * deleted is wanted as it stands, and what stands is never taken away because something else is refused.
 *
 * - A virtual server takes along its address, unless another one needs it. It does not come without what guards it, nor without any entry
 *   that tells whose it is. One that is not masqueraded comes without real servers, so that nobody is served in vain; one that stands gets no
 *   new ones without either.
 * - An address is not bound without the entry that guards the node behind it.
 * - A frontend that stands keeps its old entry, without which it would be closed, where a new one is refused.
 * - Nobody is let past the filter to a virtual server that is left out: whatever else listens on the node would be reached. Where the entry
 *   that does it does not go, one that stands at a bound address stays without real servers, and no address is bound without one.
 * - A set that cannot be made is refused all of its entries, and no rule names it.
 * - A virtual or real server that does not go gets no new clients; where that cannot be had either, rules refuse them, and what closes it to
 *   some stays.
 */
export function withoutRefused(desired: KernelState, refused: readonly Refused[], standing: Standing): Reduced {
  if (refused.length === 0) {
    return {
      desired,
      stuck: new Set(),
      fixedSets: new Set(),
      lackingSets: [],
      refusedGuards: new Set(),
      servedInVain: [],
    };
  }
  const { lacking, fixed } = refusedSets(desired, refused, standing.sets);
  const all = [...refused, ...entriesLacking(desired, lacking)];
  const usable = { ...standing, sets: withoutLacking(standing.sets, lacking) };
  const sets = withoutLacking(setsWithout(desired, all, usable), lacking);
  const ipvs = serversWithout({ ...desired, sets }, desired.sets, all, usable);
  const stuck = stuckServers(desired, refused, standing);
  const served = new Set([...ipvs.values()].map(({ address }) => address));
  const stuckEntries = stuckPortals(standing.sets, refused, desired.family);
  const shut = withoutPortals(sets, desired, { ipvs, stuck: stuckEntries });
  const open = [...stuckEntries].filter((entry) => !ipvs.has(frontendOf(entry) as VirtualServerKey)).map(addressOf);
  const dummy = {
    ...desired.dummy,
    addresses: addressesWithout(desired, all, { served, sets, standing: usable, open: new Set(open) }),
  };
  const changesOf = byServer(refused);
  const stuckReals = (key: VirtualServerKey) => {
    const present = standing.ipvs.get(key);
    return (present && stuckServer(present, changesOf.get(key) ?? []))?.realServers ?? [];
  };
  const reachable = withoutUnboundReals(ipvs, desired, dummy.addresses, stuckReals);
  const left = stuck.size === 0 ? reachable : new Map([...reachable, ...stuck]);
  const inVain = servedInVain(desired.ipvs, left, refused);
  return {
    desired: {
      ...desired,
      ipvs: left,
      sets: withStandingSets(shut, refused, lacking, standing.sets),
      tables: withRefusals(wantedWithoutSets(desired.tables, lacking), inVain, desired.family, standing.tables),
      dummy,
    },
    stuck: new Set(stuck.keys()),
    fixedSets: fixed,
    lackingSets: lacking,
    refusedGuards: refusedGuards(desired, refused, usable),
    servedInVain: inVain,
  };
}

/** Virtual servers that nobody wants and that do not go, or must not: without one its clients would get to what else listens on the node. */
function stuckServers(
  { ipvs, family }: KernelState,
  refused: readonly Refused[],
  standing: Standing,
): ReadonlyMap<VirtualServerKey, VirtualServer> {
  const stuck = new Map<VirtualServerKey, VirtualServer>();
  for (const [key, changes] of byServer(refused)) {
    const present = ipvs.has(key) ? undefined : standing.ipvs.get(key);
    const left = present && stuckServer(present, changes);
    if (left) stuck.set(key, left);
  }
  for (const entry of stuckPortals(standing.sets, refused, family)) {
    const key = frontendOf(entry);
    const present = key && !ipvs.has(key) && !stuck.has(key) ? standing.ipvs.get(key) : undefined;
    if (key && present && standing.dummy.addresses.has(present.address))
      stuck.set(key, { ...present, realServers: [] });
  }
  return stuck;
}

function setsWithout(desired: KernelState, refused: readonly Refused[], standing: Standing): IpsetState {
  const { closing, opening, portals, keepLocal } = ownSets(desired.family);
  const sets = new Map(desired.sets);
  const stands = (name: string, entry: SetEntry) => standing.sets.get(name)?.entries.has(entry) ?? false;
  const changed = new Map<string, Set<SetEntry>>();
  const entriesOf = (name: string) => {
    const entries = changed.get(name) ?? new Set(sets.get(name)?.entries);
    changed.set(name, entries);
    return entries;
  };
  const keep = (names: Iterable<string>, isKept: (entry: SetEntry) => boolean) => {
    for (const name of names) {
      for (const entry of standing.sets.get(name)?.entries ?? []) if (isKept(entry)) entriesOf(name).add(entry);
    }
  };
  for (const each of refused) {
    if (each.kind === 'address' && each.change && stands(guardOf(desired), addressEntry(each.address))) {
      entriesOf(guardOf(desired)).add(addressEntry(each.address));
    } else if (each.kind === 'set-entry' && each.change && stands(each.set, each.entry)) {
      entriesOf(each.set).add(each.entry);
      if (closing.has(each.set)) keep(opening, (entry) => entry.startsWith(`${each.entry},`));
    } else if (each.kind === 'set-entry' && !each.change && !stands(each.set, each.entry)) {
      entriesOf(each.set).delete(each.entry);
      const key = frontendOf(each.entry);
      if (portals.has(each.set) && key && standing.ipvs.has(key)) keep(portals, (entry) => entry === each.entry);
    } else if (each.kind === 'real-server' && each.change === 'edit' && isServedInVain(each, desired, standing)) {
      keep([...closing, ...opening, ...keepLocal], (entry) => frontendOf(entry) === each.server);
    }
  }
  for (const [name, entries] of changed) {
    const set = sets.get(name);
    if (set) sets.set(name, { ...set, entries });
  }
  return sets;
}

/** It can neither go nor be spared new clients, and the frontend has no other. */
function isServedInVain(
  { server, real }: { readonly server: VirtualServerKey; readonly real: RealServerKey },
  { ipvs }: KernelState,
  standing: Standing,
): boolean {
  const isServed = ipvs.get(server)?.realServers.some(({ weight }) => weight > 0);
  return !isServed && (realOfKey(standing.ipvs.get(server)?.realServers ?? [], real)?.weight ?? 0) > 0;
}

/** `wantedSets`: before anything was left out of them. */
function serversWithout(
  reduced: KernelState,
  wantedSets: IpsetState,
  refused: readonly Refused[],
  { ipvs: standing }: Standing,
): ReadonlyMap<VirtualServerKey, VirtualServer> {
  const desired = { ...reduced, sets: wantedSets };
  const isOpen = frontendsOf(desired, missing([...ownSets(desired.family).guards], wantedSets, reduced.sets));
  const isFrozen = frozenServers(desired, { sets: reduced.sets });
  const changesOf = byServer(refused);
  const servers = new Map<VirtualServerKey, VirtualServer>();
  for (const [key, server] of reduced.ipvs) {
    const present = standing.get(key);
    const changes = changesOf.get(key) ?? [];
    if (present) servers.set(key, leftAsItIs(server, present, changes, isFrozen(server)));
    else if (
      !changes.some(({ kind, change }) => kind === 'virtual-server' && !change) &&
      !isOpen(server) &&
      isInLedger(server, desired, reduced)
    ) {
      servers.set(key, isFrozen(server) ? { ...server, realServers: [] } : withoutReals(server, changes));
    }
  }
  return servers;
}

/** True also of one that is to have no such entry. That of a node address does not do: without its port nobody knows whose it is. */
function isInLedger(server: VirtualServer, desired: KernelState, { sets }: Pick<KernelState, 'sets'>): boolean {
  if (sets === desired.sets) return true;
  const wanted = ledgerEntries(server)
    .filter(([id]) => id !== 'NODE-PORT-IP')
    .map(([id, entry]) => [setName(id, desired.family), entry] as const)
    .filter(([name, entry]) => desired.sets.get(name)?.entries.has(entry));
  return wanted.length === 0 || wanted.some(([name, entry]) => sets.get(name)?.entries.has(entry));
}

function addressesWithout(
  desired: KernelState,
  refused: readonly Refused[],
  left: {
    readonly served: ReadonlySet<IpAddress>;
    readonly sets: IpsetState;
    readonly standing: Standing;
    /** Where clients are let past the filter to a frontend without a virtual server. */
    readonly open: ReadonlySet<IpAddress>;
  },
): ReadonlySet<IpAddress> {
  const { served, sets, standing, open } = left;
  const guard = guardOf(desired);
  const unguarded = new Set(missing([guard], desired.sets, sets).map(([, entry]) => entry));
  const lacking = new Set<IpAddress>();
  const kept: IpAddress[] = [];
  for (const each of refused) {
    if (each.kind !== 'address') continue;
    if (!each.change) lacking.add(each.address);
    else if (standing.dummy.addresses.has(each.address)) kept.push(each.address);
  }
  const bound = [...desired.dummy.addresses].filter(
    (address) =>
      served.has(address) &&
      (standing.dummy.addresses.has(address) ||
        !(lacking.has(address) || open.has(address) || unguarded.has(addressEntry(address)))),
  );
  return new Set([...bound, ...kept]);
}

function refusedGuards(desired: KernelState, refused: readonly Refused[], { sets }: Standing): ReadonlySet<SetEntry> {
  const guard = guardOf(desired);
  const isLacking = (each: Refused) =>
    each.kind === 'set-entry' && !each.change && each.set === guard && !sets.get(guard)?.entries.has(each.entry);
  return new Set(refused.flatMap((each) => (isLacking(each) && 'entry' in each ? [each.entry] : [])));
}

function guardOf({ family }: Pick<KernelState, 'family'>): string {
  return setName('IPVS-IPS', family);
}
