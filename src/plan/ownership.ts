import type { Behaviour } from '../desired/settings.ts';
import { type SetId, setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, addressPortEntry, portEntry, type SetEntry } from '../kernel/ipset/state.ts';
import type { MayDelete } from '../kernel/ipvs/diff.ts';
import { type VirtualServer, type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import { type Cidr, cidrContains } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** The set that tells which addresses we bound. */
const BOUND: SetId = 'IPVS-IPS';

/** What in the kernel may be taken away because it is ours. */
export interface Ownership {
  readonly mayDelete: MayDelete;
  readonly mayUnbind: (address: IpAddress) => boolean;
}

export interface OwnershipInputs {
  readonly behaviour: Behaviour;
  readonly excludeCIDRs: readonly Cidr[];
  /** Addresses of the node's own interfaces; node ports are served on no others. */
  readonly ownAddresses: readonly IpAddress[];
  /** What was wanted at some time since the kernel was as wanted last, or has outlived that for a while. */
  readonly wanted: Remembered;
}

/** What this program is known to have made, whatever the sets say. */
export interface Remembered {
  readonly servers: Pick<ReadonlySet<VirtualServerKey>, 'has'>;
  readonly addresses: Pick<ReadonlySet<IpAddress>, 'has'>;
}

/**
 * The sets are our ledger: their entries are added before a virtual server or an address appears and deleted after it has gone, so
 * they tell also after a crash, and after kube-proxy, whose sets are the same. kube-proxy is less strict about the order: what it was
 * killed over stands in no set, but the virtual server and its address on the dummy interface are there together, and nobody else makes
 * such a pair. Under `kube-proxy` everything of the family is ours, as it is for kube-proxy. Virtual servers inside `excludeCIDRs` are never
 * deleted; their addresses are unbound all the same where a set has them.
 */
export function ownership(observed: ObservedState, inputs: OwnershipInputs): Ownership {
  const all = inputs.behaviour === 'kube-proxy';
  const portals = PORTAL_SETS.map((id) => entriesOf(observed, id));
  const boundByUs = entriesOf(observed, BOUND);
  const nodePortAddresses = entriesOf(observed, 'NODE-PORT-IP');
  const servesNodePorts = (address: IpAddress) =>
    inputs.ownAddresses.includes(address) || nodePortAddresses.has(addressEntry(address));
  const isOurs = (server: VirtualServer): boolean =>
    all ||
    inputs.wanted.servers.has(virtualServerKey(server)) ||
    observed.dummy.addresses.has(server.address) ||
    boundByUs.has(addressEntry(server.address)) ||
    portals.some((entries) => entries.has(addressPortEntry(server.address, server.protocol, server.port))) ||
    (servesNodePorts(server.address) && isNodePort(server, observed));
  const isExcluded = (address: IpAddress) => inputs.excludeCIDRs.some((cidr) => cidrContains(cidr, address));
  let served: ReadonlySet<IpAddress> | undefined;
  /** Asked of few addresses, and of none in most passes: only then all virtual servers are gone through. */
  const isServed = (address: IpAddress): boolean => {
    served ??= new Set([...observed.ipvs.values()].map((server) => server.address));
    return served.has(address);
  };
  return {
    mayDelete: (server) => {
      if (isExcluded(server.address)) return 'excluded';
      return isOurs(server) ? 'yes' : 'foreign';
    },
    mayUnbind: (address) =>
      all ||
      boundByUs.has(addressEntry(address)) ||
      inputs.wanted.addresses.has(address) ||
      (isServed(address) && !isExcluded(address)),
  };
}

/** Entries that tell that a virtual server and its address are ours, by the set that they stand in. */
export function ledgerEntries(server: VirtualServer): readonly (readonly [SetId, SetEntry])[] {
  const { address, protocol, port } = server;
  return [
    [BOUND, addressEntry(address)],
    ...PORTAL_SETS.map((id) => [id, addressPortEntry(address, protocol, port)] as const),
    ...(protocol === 'SCTP'
      ? []
      : [[`NODE-PORT-${protocol}`, portEntry(port)] as const, ['NODE-PORT-IP', addressEntry(address)] as const]),
  ];
}

const PORTAL_SETS: readonly SetId[] = [
  'CLUSTER-IP',
  'EXTERNAL-IP',
  'EXTERNAL-IP-LOCAL',
  'LOAD-BALANCER',
  'NODE-PORT-SCTP-HASH',
];

function isNodePort({ protocol, port }: VirtualServer, observed: ObservedState): boolean {
  return protocol !== 'SCTP' && entriesOf(observed, `NODE-PORT-${protocol}`).has(portEntry(port));
}

function entriesOf({ sets, family }: ObservedState, id: SetId): ReadonlySet<SetEntry> {
  return sets.get(setName(id, family))?.entries ?? new Set();
}
