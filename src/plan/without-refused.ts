import { ownSets, type SetType, setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, addressPortEntry, type IpSet, type IpsetState, type SetEntry } from '../kernel/ipset/state.ts';
import { realsByKey } from '../kernel/ipvs/real-servers.ts';
import { type RealServerKey, realServerKey, type VirtualServer, type VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { ledgerEntries } from './ownership.ts';
import type { Refused } from './refused.ts';

/** What stands, as far as it matters here. */
export type Standing = Pick<ObservedState, 'ipvs' | 'sets' | 'dummy'>;

/** What is wanted for now. */
export interface Reduced {
  readonly desired: KernelState;
  /** Virtual servers that nobody wants and that have to be left as they are. */
  readonly stays: ReadonlySet<VirtualServerKey>;
}

/**
 * Wants all but what is refused: one thing that the kernel does not take must not keep it from the rest. What was not to be changed or
 * deleted is wanted as it stands, and what stands is never taken away because something else is refused.
 *
 * - A virtual server takes along its address, unless another one needs it. It does not come without what guards it, nor without any entry
 *   that tells whose it is; one that stands gets no new real servers as long as nothing keeps clients from endpoints elsewhere.
 * - An address is not bound without the entry that guards the node behind it.
 * - A frontend that stands keeps its old entry, without which it would be closed, where a new one is refused.
 */
export function withoutRefused(desired: KernelState, refused: readonly Refused[], standing: Standing): Reduced {
  if (refused.length === 0) return { desired, stays: new Set() };
  const sets = setsWithout(desired, refused, standing);
  const ipvs = serversWithout({ ...desired, sets }, desired.sets, refused, standing);
  const isUnwanted = (key: VirtualServerKey) => !desired.ipvs.has(key) && standing.ipvs.has(key);
  const stays = refused.flatMap((each) =>
    'server' in each && each.change !== undefined && isUnwanted(each.server) ? [each.server] : [],
  );
  const served = new Set([...ipvs.values()].map(({ address }) => address));
  const addresses = addressesWithout(desired, refused, { served, sets, standing });
  return { desired: { ...desired, ipvs, sets, dummy: { ...desired.dummy, addresses } }, stays: new Set(stays) };
}

/**
 * Tells the virtual servers that must not get new endpoints while the sets are these: nothing keeps clients outside from endpoints
 * elsewhere, or nothing brings the answers of those back by way of this node.
 */
export function frozenServers(desired: KernelState, sets: IpsetState): (server: VirtualServer) => boolean {
  const { keepLocal, exemptions } = ownSets(desired.family);
  return frontendsOf(desired, [
    ...missing([...keepLocal], desired.sets, sets),
    ...missing([...exemptions.keys()], sets, desired.sets),
  ]);
}

function setsWithout(desired: KernelState, refused: readonly Refused[], standing: Standing): IpsetState {
  const { closing, opening, portals } = ownSets(desired.family);
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
    if (each.kind === 'set') {
      const present = standing.sets.get(each.set);
      if (present && !sets.has(each.set)) sets.set(each.set, present);
    } else if (each.kind === 'address' && each.change && stands(guardOf(desired), addressEntry(each.address))) {
      entriesOf(guardOf(desired)).add(addressEntry(each.address));
    } else if (each.kind === 'set-entry' && each.change && stands(each.set, each.entry)) {
      entriesOf(each.set).add(each.entry);
      if (closing.has(each.set)) keep(opening, (entry) => entry.startsWith(`${each.entry},`));
    } else if (each.kind === 'set-entry' && !each.change && !stands(each.set, each.entry)) {
      entriesOf(each.set).delete(each.entry);
      const key = frontendOf(each.entry);
      if (portals.has(each.set) && key && standing.ipvs.has(key)) keep(portals, (entry) => entry === each.entry);
    }
  }
  for (const [name, entries] of changed) {
    const set = sets.get(name);
    if (set) sets.set(name, { ...set, entries });
  }
  return sets;
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
  const isFrozen = frozenServers(desired, reduced.sets);
  const byServer = Map.groupBy(
    refused.flatMap((each) => ('server' in each ? [each] : [])),
    ({ server }) => server,
  );
  const servers = new Map<VirtualServerKey, VirtualServer>();
  for (const [key, server] of reduced.ipvs) {
    const present = standing.get(key);
    const changes = byServer.get(key) ?? [];
    if (present) servers.set(key, leftAsItIs(server, present, changes, isFrozen(server)));
    else if (
      !changes.some(({ kind, change }) => kind === 'virtual-server' && !change) &&
      !isOpen(server) &&
      isInLedger(server, desired, reduced)
    ) {
      servers.set(key, withoutReals(server, refusedReals(changes)));
    }
  }
  return servers;
}

type ServerRefused = Extract<Refused, { readonly server: VirtualServerKey }>;

function leftAsItIs(
  server: VirtualServer,
  present: VirtualServer,
  changes: readonly ServerRefused[],
  isFrozen: boolean,
): VirtualServer {
  if (changes.length === 0 && !isFrozen) return server;
  const isEdited = changes.some(({ kind, change }) => kind === 'virtual-server' && change === 'edit');
  const { realServers: _, ...properties } = isEdited ? present : server;
  const lacking = refusedReals(changes);
  const standing = realsByKey(present.realServers);
  const reals = new Map(
    realsByKey(server.realServers)
      .entries()
      .filter(([key]) => standing.has(key) || !(isFrozen || lacking.has(key))),
  );
  for (const each of changes) {
    if (each.kind !== 'real-server' || each.change === undefined) continue;
    const real = standing.get(each.real);
    if (real) reals.set(each.real, real);
  }
  return { ...properties, realServers: [...reals.values()] };
}

function refusedReals(changes: readonly ServerRefused[]): ReadonlySet<RealServerKey> {
  return new Set(changes.flatMap((each) => (each.kind === 'real-server' && !each.change ? [each.real] : [])));
}

function withoutReals(server: VirtualServer, lacking: ReadonlySet<RealServerKey>): VirtualServer {
  if (lacking.size === 0) return server;
  return { ...server, realServers: server.realServers.filter((real) => !lacking.has(realServerKey(real))) };
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
  left: { readonly served: ReadonlySet<IpAddress>; readonly sets: IpsetState; readonly standing: Standing },
): ReadonlySet<IpAddress> {
  const { served, sets, standing } = left;
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
      (standing.dummy.addresses.has(address) || !(lacking.has(address) || unguarded.has(addressEntry(address)))),
  );
  return new Set([...bound, ...kept]);
}

function guardOf({ family }: Pick<KernelState, 'family'>): string {
  return setName('IPVS-IPS', family);
}

/** Entries of these sets that are in the one and not in the other. */
function missing(
  names: readonly string[],
  from: IpsetState,
  within: IpsetState,
): readonly (readonly [IpSet, SetEntry])[] {
  return names.flatMap((name) => {
    const [set, other] = [from.get(name), within.get(name)];
    if (!set || set.entries === other?.entries) return [];
    return [...set.entries].filter((entry) => !other?.entries.has(entry)).map((entry) => [set, entry] as const);
  });
}

/** Tells the virtual servers that entries are about: those of the frontend, or of the node port. */
function frontendsOf(
  { family, sets }: KernelState,
  entries: readonly (readonly [IpSet, SetEntry])[],
): (server: VirtualServer) => boolean {
  if (entries.length === 0) return () => false;
  const { portals } = ownSets(family);
  const about = new Set(
    entries.map(([{ name, type }, entry]) => (isOfPorts(type) ? `${protocolOf(name)} ${entry}` : entry)),
  );
  return ({ address, protocol, port }) => {
    const portal = addressPortEntry(address, protocol, port);
    if (about.has(portal)) return true;
    const isPortal = () => [...portals].some((name) => sets.get(name)?.entries.has(portal));
    return about.has(`${protocol} ${port}`) && !isPortal();
  };
}

function isOfPorts(type: SetType | string): boolean {
  return type === 'bitmap:port';
}

function protocolOf(name: string): 'TCP' | 'UDP' {
  return name.endsWith('UDP') ? 'UDP' : 'TCP';
}

/** `172.20.1.1,tcp:80`, whatever comes after it → `TCP 172.20.1.1:80`; `undefined` for entries of other kinds. */
export function frontendOf(entry: SetEntry): VirtualServerKey | undefined {
  const [, address = '', protocol = '', port] = /^([^,]+),(tcp|udp|sctp):(\d+)/.exec(entry) ?? [];
  if (port === undefined) return undefined;
  const host = address.includes(':') ? `[${address}]` : address;
  return `${protocol.toUpperCase()} ${host}:${port}` as VirtualServerKey;
}
