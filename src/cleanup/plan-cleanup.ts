import { renderDummySteps } from '../kernel/dummy/render.ts';
import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import { type SetId, setName } from '../kernel/ipset/definitions.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import { renderIpsetSteps } from '../kernel/ipset/render.ts';
import { addressEntry } from '../kernel/ipset/state.ts';
import { emptyTables } from '../kernel/iptables/diff.ts';
import { isProbe } from '../kernel/ipvs/probe.ts';
import { renderIpvsSteps } from '../kernel/ipvs/render.ts';
import { ipvsOfFamily, type VirtualServer, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { Cidr } from '../net/cidr.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import { familyOf, type IpAddress, isLinkLocal, isLoopback, parseIpAddress } from '../net/ip-address.ts';
import { type Ownership, ownership } from '../plan/ownership.ts';
import type { Script } from '../plan/scripts.ts';
import { removeIpvsMode } from './ipvs-mode.ts';
import { judgeSets } from './judge-sets.ts';
import type { Kept, Leftovers, Removed } from './leftovers.ts';
import { renderTableRemovals } from './table-removal.ts';

export interface CleanupPlan {
  /** In the order in which they must run; each only when those before it have succeeded. */
  readonly scripts: readonly Script[];
  /** To be destroyed at the end, one by one where all at once is refused. */
  readonly sets: readonly string[];
  readonly removed: Removed;
  readonly kept: readonly Kept[];
}

/**
 * Takes away all that ipvs mode made, and nothing else. New connections are refused first, by taking the entries of the access filter away
 * while the addresses stand; then virtual servers go, with the rules that masquerade for them still there; then addresses, rules, sets. What
 * tells a virtual server from those of others (its address on the interface, or its entry) stands until it has gone, so a clean-up that
 * was killed can be repeated.
 */
export function planCleanup(leftovers: Leftovers, excludeCIDRs: readonly Cidr[]): CleanupPlan {
  const owners = Object.fromEntries(
    FAMILIES.map((family) => [family, ownershipOf(family, leftovers, excludeCIDRs)]),
  ) as Readonly<Record<Family, Ownership>>;
  const servers = judgeServers(leftovers, owners);
  const bound = judgeAddresses(leftovers, owners);
  const tables = FAMILIES.flatMap((family) => {
    const read = leftovers.tables[family];
    return read ? [{ family, ...removeIpvsMode(read) }] : [];
  });
  const sets = judgeSets(leftovers, new Map(tables.map(({ family, removals }) => [family, removals])));
  const scripts: readonly Script[] = [
    { tool: 'ipset', text: FAMILIES.map((family) => renderIpsetSteps(closeFrontends(leftovers, family))).join('') },
    {
      tool: 'ipvs',
      text: renderIpvsSteps(servers.ours.map((server) => ({ kind: 'delete-virtual-server', server }))),
    },
    { tool: 'address', text: bound.text },
    ...tables.map(
      ({ family, removals }): Script => ({
        tool: family === 'IPv4' ? 'iptables' : 'ip6tables',
        text: renderTableRemovals(removals),
      }),
    ),
    { tool: 'ipset', text: sets.emptied.map((name) => `flush ${name}\n`).join('') },
  ];
  const removals = tables.flatMap((table) => table.removals);
  return {
    scripts: scripts.filter(({ text }) => text !== ''),
    sets: sets.destroyed,
    removed: {
      virtualServers: servers.ours.length,
      addresses: bound.addresses,
      interfaces: bound.interfaces,
      chains: removals.flatMap(({ chains }) => chains).length,
      rules: removals.flatMap(({ rules }) => rules).length,
      sets: sets.destroyed.length,
      tables: 0,
    },
    kept: [
      ...servers.kept,
      ...bound.kept,
      ...tables.flatMap(({ family, kept }) =>
        kept.map(({ table, chain, why }) => ({ what: `${family} chain ${chain} of table ${table}`, why })),
      ),
      ...sets.kept,
    ],
  };
}

/** Lines of `ipset restore` that destroy sets. */
export function renderDestroySets(names: readonly string[]): string {
  return renderIpsetSteps(names.map((name) => ({ kind: 'destroy-set', name })));
}

function ownershipOf(family: Family, leftovers: Leftovers, excludeCIDRs: readonly Cidr[]): Ownership {
  const { ipvs, sets, interfaces } = leftovers;
  const others = [...interfaces].filter(([name]) => name !== DUMMY_INTERFACE).flatMap(([, addresses]) => addresses);
  const addresses = new Set(boundAddresses(leftovers).filter((address) => familyOf(address) === family));
  const dummy = { exists: interfaces.has(DUMMY_INTERFACE), addresses };
  return ownership(
    { family, ipvs: ipvsOfFamily(ipvs, family), sets, dummy, tables: emptyTables() },
    {
      behaviour: 'documented',
      excludeCIDRs,
      ownAddresses: others.map(({ address }) => address).filter((address) => !isLoopback(address)),
      wanted: { servers: new Set(), addresses: new Set() },
    },
  );
}

/** IPv6 link-local ones come and go with the interface. */
function boundAddresses({ interfaces }: Leftovers): readonly IpAddress[] {
  const bound = (interfaces.get(DUMMY_INTERFACE) ?? []).map(({ address }) => address);
  return bound.filter((address) => familyOf(address) === 'IPv4' || !isLinkLocal(address));
}

/** By the access filter's own order. */
const PORTALS: readonly SetId[] = ['LOAD-BALANCER', 'CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL'];

/** Where the access filter stands, it refuses new connections to an address of ours that no entry lets through. */
function closeFrontends({ sets, tables }: Leftovers, family: Family): readonly IpsetStep[] {
  const filter = tables[family]?.get('filter')?.get('KUBE-IPVS-FILTER') ?? [];
  const guarded = sets.get(setName('IPVS-IPS', family))?.entries ?? new Set();
  if (filter.length === 0) return [];
  return PORTALS.flatMap((id) => {
    const set = sets.get(setName(id, family));
    if (!set) return [];
    const closed = [...set.entries].filter((entry) => {
      const address = parseIpAddress(entry.split(',')[0] ?? '');
      return address !== undefined && guarded.has(addressEntry(address));
    });
    return closed.map((entry): IpsetStep => ({ kind: 'delete-entry', set, entry }));
  });
}

function judgeServers(
  { ipvs }: Leftovers,
  owners: Readonly<Record<Family, Ownership>>,
): { readonly ours: readonly VirtualServer[]; readonly kept: readonly Kept[] } {
  const ours: VirtualServer[] = [];
  const kept: Kept[] = [];
  for (const server of ipvs.values()) {
    const may = isProbe(server) ? 'yes' : owners[familyOf(server.address)].mayDelete(server);
    if (may === 'yes') ours.push(server);
    else kept.push({ what: `virtual server ${virtualServerKey(server)}`, why: WHY_SERVER[may] });
  }
  return { ours, kept };
}

const WHY_SERVER = { foreign: 'it is not ours', excluded: 'it is inside excludeCIDRs' } as const;

interface JudgedAddresses {
  readonly text: string;
  readonly addresses: number;
  readonly interfaces: number;
  readonly kept: readonly Kept[];
}

function judgeAddresses(leftovers: Leftovers, owners: Readonly<Record<Family, Ownership>>): JudgedAddresses {
  const { interfaces, isDummy } = leftovers;
  if (!interfaces.has(DUMMY_INTERFACE)) return { text: '', addresses: 0, interfaces: 0, kept: [] };
  const bound = boundAddresses(leftovers);
  const isOurs = (address: IpAddress) => owners[familyOf(address)].mayUnbind(address);
  const ours = bound.filter(isOurs);
  const foreign = bound.filter((address) => !isOurs(address));
  if (isDummy && foreign.length === 0) {
    return { text: `link delete ${DUMMY_INTERFACE}\n`, addresses: ours.length, interfaces: 1, kept: [] };
  }
  const why = isDummy ? `others have bound ${foreign.join(', ')} on it` : 'it is no dummy interface';
  return {
    text: renderDummySteps(ours.map((address) => ({ kind: 'unbind-address', address }))),
    addresses: ours.length,
    interfaces: 0,
    kept: [{ what: `interface ${DUMMY_INTERFACE}`, why }],
  };
}
