import fc from 'fast-check';
import { SET_DEFINITIONS, setName } from '../../src/kernel/ipset/definitions.ts';
import {
  addressEntry,
  addressPortEntry,
  addressPortSourceEntry,
  emptySets,
  type IpSet,
  type IpsetState,
  portEntry,
  type SetEntry,
  withEntries,
} from '../../src/kernel/ipset/state.ts';
import { emptyTables } from '../../src/kernel/iptables/diff.ts';
import {
  type IpvsState,
  type RealServer,
  realServerKey,
  type VirtualServer,
  virtualServerKey,
} from '../../src/kernel/ipvs/state.ts';
import type { ObservedState } from '../../src/kernel/state.ts';
import type { Family } from '../../src/net/family.ts';
import type { IpAddress } from '../../src/net/ip-address.ts';
import { PROTOCOLS, type Protocol } from '../../src/net/protocol.ts';
import { anyAddress, anyCidr, anyPort, ip, port } from './net.ts';

/** `10.180.0.1:8080`, weight 1, masqueraded, as it is wanted: nobody has counted its connections. */
export function real(address = '10.180.0.1', given: Partial<RealServer> = {}): RealServer {
  return { address: ip(address), port: port(8080), forwarding: 'masquerade', weight: 1, ...given };
}

/** TCP `172.20.1.1:80` with the real servers given. */
export function server(reals: readonly RealServer[] = [], given: Partial<VirtualServer> = {}): VirtualServer {
  return {
    protocol: 'TCP',
    address: ip('172.20.1.1'),
    port: port(80),
    scheduler: 'rr',
    schedulerFlags: [],
    persistenceSeconds: 0,
    realServers: reals,
    ...given,
  };
}

export function ipvs(...servers: readonly VirtualServer[]): IpvsState {
  return new Map(servers.map((each) => [virtualServerKey(each), each]));
}

/** All sets of a family, with entries by the name of the set without its family. */
export function setsWith(family: Family, entries: Readonly<Record<string, readonly string[]>> = {}): IpsetState {
  const sets = emptySets(family);
  for (const { id } of SET_DEFINITIONS) {
    const set = sets.get(setName(id, family));
    if (set && entries[id]) sets.set(set.name, withEntries(set, new Set(entries[id] as readonly SetEntry[])));
  }
  return sets;
}

/** What a node shows before anything of ours is on it. */
export function observedState(given: Partial<ObservedState> = {}): ObservedState {
  return {
    family: 'IPv4',
    ipvs: new Map(),
    sets: new Map(),
    dummy: { exists: false, addresses: new Set() },
    tables: emptyTables(),
    ...given,
  };
}

/** Few addresses and ports, so that two states have much in common. */
const POOLS: Readonly<Record<Family, { readonly fronts: readonly IpAddress[]; readonly backs: readonly IpAddress[] }>> =
  {
    IPv4: {
      fronts: ['172.20.1.1', '172.20.1.2', '192.168.0.10'].map(ip),
      backs: ['10.180.0.1', '10.180.0.2', '10.180.1.1'].map(ip),
    },
    IPv6: { fronts: ['fd00::1', 'fd00:20::2'].map(ip), backs: ['fd00:180::1', 'fd00:180::2', '::2'].map(ip) },
  };

/** Any state of one family as we could want it: weights 1, 0 and 10, known flags. */
export function anyIpvs(family: Family): fc.Arbitrary<IpvsState> {
  const { fronts, backs } = POOLS[family];
  const realServer = fc
    .record({
      address: fc.constantFrom(...backs),
      port: fc.constantFrom(port(8080), port(9090)),
      weight: fc.constantFrom(1, 1, 0, 10),
    })
    .map((given) => real('10.0.0.1', given));
  const virtualServer = fc
    .record({
      reals: fc.uniqueArray(realServer, { selector: realServerKey, maxLength: 5 }),
      protocol: fc.constantFrom(...PROTOCOLS),
      address: fc.constantFrom(...fronts),
      port: fc.constantFrom(port(80), port(443), port(30080)),
      scheduling: fc.constantFrom(
        ['rr', []] as const,
        ['wlc', []] as const,
        ['mh', ['mh-port']] as const,
        ['sh', ['sh-fallback', 'sh-port']] as const,
      ),
      persistenceSeconds: fc.constantFrom(0, 0, 1, 10800),
    })
    .map(({ reals, scheduling: [scheduler, schedulerFlags], ...given }) =>
      server(reals, { ...given, scheduler, schedulerFlags }),
    );
  return fc.uniqueArray(virtualServer, { selector: virtualServerKey, maxLength: 6 }).map((servers) => ipvs(...servers));
}

/** All sets of a family with any entries; none of the sets at all is one of the states. */
export function anySets(family: Family): fc.Arbitrary<IpsetState> {
  const sets = fc.tuple(
    ...[...emptySets(family).values()].map((set) =>
      fc
        .uniqueArray(anyEntry(set, family), { maxLength: 4 })
        .map((entries) => [set.name, { ...set, entries: new Set(entries) }] as const),
    ),
  );
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(new Map()) },
    { weight: 9, arbitrary: sets.map((list) => new Map(list)) },
  );
}

function anyEntry({ type }: IpSet, family: Family): fc.Arbitrary<SetEntry> {
  const address = fc.oneof(fc.constantFrom(...POOLS[family].fronts), anyAddress(family));
  const protocol: fc.Arbitrary<Protocol> = fc.constantFrom(...PROTOCOLS);
  const ranges = anyCidr(family).filter((range) => !range.endsWith('/0'));
  switch (type) {
    case 'bitmap:port':
      return anyPort.map(portEntry);
    case 'hash:ip':
      return address.map(addressEntry);
    case 'hash:ip,port':
      return fc.tuple(address, protocol, anyPort).map((parts) => addressPortEntry(...parts));
    case 'hash:ip,port,ip':
      return fc.tuple(address, protocol, anyPort, address).map((parts) => addressPortSourceEntry(...parts));
    default:
      return fc.tuple(address, protocol, anyPort, ranges).map((parts) => addressPortSourceEntry(...parts));
  }
}
