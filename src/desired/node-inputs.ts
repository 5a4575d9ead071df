import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import type { NodeView } from '../model/node-view.ts';
import { type Cidr, cidrContains, cidrFamily, hostCidr, prefixLength } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import { familyOf, type IpAddress, isLinkLocal, isLoopback } from '../net/ip-address.ts';
import type { NodePlace } from '../topology/choose-endpoints.ts';
import type { DetectLocal, ProxySettings } from './settings.ts';

/** What the wanted state of one family takes from the node. While it is the same, nothing is computed anew because of the node. */
export interface NodeInputs {
  readonly place: NodePlace;
  /** Addresses on which node ports are served, in the order of the interfaces. */
  readonly nodePortAddresses: readonly IpAddress[];
  /** Addresses of every interface but the dummy one; such an address is never bound a second time. */
  readonly ownAddresses: readonly IpAddress[];
  /** The node's main address; decides whether source ranges take in the node itself. */
  readonly primaryAddress: IpAddress | undefined;
  /** `undefined`: traffic of this cluster's Pods cannot be told from other traffic. */
  readonly detector: LocalDetector | undefined;
}

export type LocalDetector =
  | { readonly kind: 'source'; readonly cidr: Cidr }
  | { readonly kind: 'interface'; readonly name: string };

export function nodeInputs(node: NodeView, family: Family, settings: ProxySettings): NodeInputs {
  const ownAddresses = interfaceAddresses(node, family, (name) => name !== DUMMY_INTERFACE).filter(isUsable);
  const nodeAddress = node.addresses.find((address) => familyOf(address) === family);
  const primary = nodeAddress === undefined ? [] : [hostCidr(nodeAddress)];
  const configured = settings.nodePortAddresses.flatMap((range) => (range === 'primary' ? primary : [range]));
  return {
    place: { name: node.name, zone: node.zone },
    nodePortAddresses: nodePortAddresses(node, family, configured, ownAddresses),
    ownAddresses,
    primaryAddress: nodeAddress ?? ownAddresses[0],
    detector: detectorOf(settings.detectLocal, node, family),
  };
}

/**
 * Every own address when nothing of the family is configured or a range of all addresses is; else the addresses of all interfaces
 * inside one of the ranges. IPv4 link-local addresses count.
 *
 * Source: kubernetes/kubernetes pkg/proxy/util/nodeport_addresses.go, pkg/proxy/ipvs/netlink_linux.go
 */
function nodePortAddresses(
  node: NodeView,
  family: Family,
  configured: readonly Cidr[],
  ownAddresses: readonly IpAddress[],
): readonly IpAddress[] {
  const ranges = configured.filter((range) => cidrFamily(range) === family);
  if (ranges.length === 0 || ranges.some((range) => prefixLength(range) === 0)) return ownAddresses;
  const all = interfaceAddresses(node, family, () => true).filter((address) => !isLoopback(address));
  return all.filter((address) => ranges.some((range) => cidrContains(range, address)));
}

function interfaceAddresses(node: NodeView, family: Family, wanted: (name: string) => boolean): readonly IpAddress[] {
  const lists = [...node.interfaces].filter(([name]) => wanted(name)).map(([, list]) => list);
  const addresses = lists.flatMap((list) => list.map(({ address }) => address));
  return [...new Set(addresses.filter((address) => familyOf(address) === family))];
}

function isUsable(address: IpAddress): boolean {
  return !isLoopback(address) && (familyOf(address) === 'IPv4' || !isLinkLocal(address));
}

function detectorOf(detect: DetectLocal, node: NodeView, family: Family): LocalDetector | undefined {
  const firstOf = (cidrs: readonly Cidr[]): LocalDetector | undefined => {
    const cidr = cidrs.find((candidate) => cidrFamily(candidate) === family);
    return cidr && { kind: 'source', cidr };
  };
  switch (detect.kind) {
    case 'cluster-cidr':
      return firstOf(detect.cidrs);
    case 'node-cidr':
      return firstOf(node.podCIDRs);
    case 'bridge-interface':
      return { kind: 'interface', name: detect.name };
    case 'interface-name-prefix':
      return { kind: 'interface', name: `${detect.prefix}+` };
  }
}
