import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import type { NodeView } from '../model/node-view.ts';
import { type Cidr, cidrContains, cidrFamily, hostCidr, prefixLength } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import { familyOf, type IpAddress, isLinkLocal, isLoopback, isUnspecified } from '../net/ip-address.ts';

/** Where health check ports of one family listen: every address of the family, or just these. */
export type HealthAddresses = 'everywhere' | readonly IpAddress[];

export interface HealthAddressSettings {
  readonly behaviour: 'documented' | 'kube-proxy';
  readonly nodePortAddresses: readonly (Cidr | 'primary')[];
  /** Stands before the Node's own addresses of its family, unless it stands for all addresses. */
  readonly bindAddress: IpAddress;
}

/**
 * Where node ports may be reached, loopback addresses included. With ranges of the other family alone: nowhere, as for node ports; in
 * kube-proxy everywhere. Addresses of Services are never among them.
 *
 * Source: kubernetes/kubernetes pkg/proxy/util/nodeport_addresses.go
 */
export function healthAddresses(
  family: Family,
  { behaviour, nodePortAddresses, bindAddress }: HealthAddressSettings,
  node: Pick<NodeView, 'addresses' | 'interfaces'>,
): HealthAddresses {
  const candidates = [bindAddress, ...node.addresses].filter(
    (address) => !isLoopback(address) && !isUnspecified(address),
  );
  const primary = candidates.find((address) => familyOf(address) === family);
  const configured = nodePortAddresses.flatMap((range) =>
    range !== 'primary' ? range : primary === undefined ? [] : hostCidr(primary),
  );
  const ranges = configured.filter((range) => cidrFamily(range) === family);
  const isOpen = behaviour === 'kube-proxy' ? ranges.length === 0 : nodePortAddresses.length === 0;
  if (isOpen || ranges.some((range) => prefixLength(range) === 0)) return 'everywhere';
  const own = [...node.interfaces].filter(([name]) => name !== DUMMY_INTERFACE).flatMap(([, addresses]) => addresses);
  const chosen = own.map(({ address }) => address).filter((address) => isChosen(address, ranges, family));
  return [...new Set(chosen)].sort();
}

/** IPv6 addresses that need an interface beside them cannot be listened on. */
function isChosen(address: IpAddress, ranges: readonly Cidr[], family: Family): boolean {
  if (familyOf(address) !== family || (family === 'IPv6' && isLinkLocal(address))) return false;
  return ranges.some((range) => cidrContains(range, address));
}
