import type { Cidr, InterfaceAddress } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** What the API says about the node we run on. */
export interface ClusterNode {
  readonly name: string;
  /** Value of `topology.kubernetes.io/zone`; `undefined` when the label is missing or empty. */
  readonly zone: string | undefined;
  readonly podCIDRs: readonly Cidr[];
  /** All `InternalIP`, then all `ExternalIP` addresses, both families. */
  readonly addresses: readonly IpAddress[];
  /** Why the node is about to go: its object is being deleted, or the cluster shrinks. Absent while it stays. */
  readonly leaving?: 'deletion' | 'scale-down';
}

/** Addresses by interface name, as the node's kernel has them; `kube-ipvs0` among them when it exists. */
export type InterfaceAddresses = ReadonlyMap<string, readonly InterfaceAddress[]>;

/** The node as a pass sees it: the API's view and the kernel's. */
export interface NodeView {
  readonly name: string;
  readonly zone: string | undefined;
  readonly podCIDRs: readonly Cidr[];
  readonly addresses: readonly IpAddress[];
  /** What the API says of all other nodes; the same object as long as nothing of it changes. */
  readonly otherNodeAddresses: ReadonlySet<IpAddress>;
  readonly interfaces: InterfaceAddresses;
}
