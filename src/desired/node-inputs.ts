import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import type { NodeView } from '../model/node-view.ts';
import { type Cidr, cidrFamily, hostCidr, prefixLength } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import { familyOf, type IpAddress, isLinkLocal, isLoopback } from '../net/ip-address.ts';
import type { NodePlace } from '../topology/select-endpoints.ts';
import { documentedNodePortAddresses, interfaceAddresses, kubeProxyNodePortAddresses } from './node-port-addresses.ts';
import type { DetectLocal, ProxySettings } from './settings.ts';

/** What the wanted state of one family takes from the node. While it is the same, nothing is computed anew because of the node. */
export interface NodeInputs {
  readonly place: NodePlace;
  /** Addresses on which node ports are served, in the order of the interfaces. */
  readonly nodePortAddresses: readonly IpAddress[];
  /** Addresses of every interface but the dummy one; such an address is never bound a second time. */
  readonly ownAddresses: readonly IpAddress[];
  /** The node's main address, by `bindAddress` or by the Node object; decides whether source ranges take in the node itself. kube-proxy has none without one in the Node object. */
  readonly primaryAddress: IpAddress | undefined;
  /** Addresses of other nodes; empty under the behaviour of kube-proxy, which does not ask. */
  readonly otherNodeAddresses: ReadonlySet<IpAddress>;
  /** `undefined`: traffic of this cluster's Pods cannot be told from other traffic. */
  readonly detector: LocalDetector | undefined;
  /** Tells the Pods of this node; `undefined` when that is not known. */
  readonly ownPods: LocalDetector | undefined;
}

export type LocalDetector =
  | { readonly kind: 'source'; readonly cidr: Cidr }
  | { readonly kind: 'interface'; readonly name: string };

export function nodeInputs(node: NodeView, family: Family, settings: ProxySettings): NodeInputs {
  const ownAddresses = interfaceAddresses(node, family, (name) => name !== DUMMY_INTERFACE).filter(isUsable);
  const nodeAddress = [settings.nodeAddress ?? [], node.addresses]
    .flat()
    .find((address) => familyOf(address) === family);
  const primary = nodeAddress === undefined ? [] : [hostCidr(nodeAddress)];
  const served = settings.behaviour === 'documented' ? documentedNodePortAddresses : kubeProxyNodePortAddresses;
  const configured = settings.nodePortAddresses.flatMap((range) => (range === 'primary' ? primary : [range]));
  const ranges = configured.filter((range) => cidrFamily(range) === family);
  const everywhere = settings.nodePortAddresses.length === 0 || ranges.some((range) => prefixLength(range) === 0);
  const detector = detectorOf(settings.detectLocal, node, family);
  return {
    place: { name: node.name, zone: node.zone },
    nodePortAddresses: served({ node, family, ranges, everywhere, ownAddresses }),
    ownAddresses,
    primaryAddress: nodeAddress ?? (settings.behaviour === 'documented' ? ownAddresses[0] : undefined),
    otherNodeAddresses: settings.behaviour === 'documented' ? foreignAddresses(node, ownAddresses) : NO_ADDRESSES,
    detector,
    ownPods: detector?.kind === 'interface' ? detector : detectorOf({ kind: 'node-cidr' }, node, family),
  };
}

const NO_ADDRESSES: ReadonlySet<never> = new Set<never>();

/** What stands on an interface of this node is its own, whatever Node objects say. Mostly the same set as the view's. */
function foreignAddresses(
  { otherNodeAddresses }: NodeView,
  ownAddresses: readonly IpAddress[],
): ReadonlySet<IpAddress> {
  const doubted = ownAddresses.filter((address) => otherNodeAddresses.has(address));
  return doubted.length === 0 ? otherNodeAddresses : otherNodeAddresses.difference(new Set(doubted));
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
