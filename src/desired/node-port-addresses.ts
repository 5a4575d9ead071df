import type { NodeView } from '../model/node-view.ts';
import { type Cidr, cidrContains, prefixLength } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import { familyOf, type IpAddress, isLinkLocal, isLoopback } from '../net/ip-address.ts';

export interface NodePortInputs {
  readonly node: NodeView;
  readonly family: Family;
  /** Configured ranges of the family. */
  readonly ranges: readonly Cidr[];
  /** Nothing is configured, or a range of all addresses of the family. */
  readonly everywhere: boolean;
  /** Addresses of every interface but the dummy one; no loopback, no IPv6 link-local. */
  readonly ownAddresses: readonly IpAddress[];
}

/**
 * Every own address when nothing of the family is configured or a range of all addresses is; else the addresses of all interfaces
 * inside one of the ranges, the dummy one among them. Link-local addresses count.
 *
 * Source: kubernetes/kubernetes pkg/proxy/util/nodeport_addresses.go, pkg/proxy/ipvs/netlink_linux.go
 */
export function kubeProxyNodePortAddresses(inputs: NodePortInputs): readonly IpAddress[] {
  const { node, family, ranges, everywhere, ownAddresses } = inputs;
  if (ranges.length === 0 || everywhere) return ownAddresses;
  const all = interfaceAddresses(node, family, () => true).filter((address) => !isLoopback(address));
  return all.filter((address) => ranges.some((range) => cidrContains(range, address)));
}

/**
 * Own addresses inside the ranges, all of them when nothing is configured; ranges of the other family alone leave none. Link-local
 * addresses are served only where a range asks for just them.
 *
 * Source: kubernetes/kube-proxy config/v1alpha1/types.go, nodePortAddresses
 */
export function documentedNodePortAddresses(inputs: NodePortInputs): readonly IpAddress[] {
  const { ranges, everywhere, ownAddresses } = inputs;
  return ownAddresses.filter((address) => {
    if (!isLinkLocal(address)) return everywhere || ranges.some((range) => cidrContains(range, address));
    return ranges.some((range) => isLinkLocalRange(range) && cidrContains(range, address));
  });
}

/** Addresses of the interfaces wanted, each once, in the order of the interfaces. */
export function interfaceAddresses(
  node: NodeView,
  family: Family,
  wanted: (name: string) => boolean,
): readonly IpAddress[] {
  const lists = [...node.interfaces].filter(([name]) => wanted(name)).map(([, list]) => list);
  const addresses = lists.flatMap((list) => list.map(({ address }) => address));
  return [...new Set(addresses.filter((address) => familyOf(address) === family))];
}

function isLinkLocalRange(range: Cidr): boolean {
  return range.startsWith('169.254.') && prefixLength(range) >= 16;
}
