import type { Cidr } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import type { Protocol } from '../net/protocol.ts';
import type { ServiceName, ServicePortKey } from './names.ts';

/**
 * The facts of one port of one Service in one family; addresses and ranges of the other family are not in it.
 *
 * Source: kubernetes/kubernetes pkg/proxy/serviceport.go
 */
export interface ServicePort {
  readonly key: ServicePortKey;
  readonly service: ServiceName;
  /** As in `Service`. */
  readonly createdAt: string;
  readonly clusterIP: IpAddress;
  readonly port: Port;
  readonly protocol: Protocol;
  readonly nodePort: Port | undefined;
  /** Seconds that a client stays with its endpoint; 0 without affinity. */
  readonly affinitySeconds: number;
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  readonly externalIPs: readonly IpAddress[];
  readonly loadBalancerVIPs: readonly IpAddress[];
  /** Load-balancer addresses that this Service does not have served on the nodes. */
  readonly loadBalancerProxies: readonly IpAddress[];
  /** Empty: every source may use the load-balancer addresses. */
  readonly loadBalancerSourceRanges: readonly Cidr[];
  /** There is no range of this family, but the Service restricts its sources: by ranges of the other family, or by ones that cannot be read. */
  readonly restrictedElsewhere: boolean;
  readonly healthCheckNodePort: Port | undefined;
}

/** True when clients outside the cluster can dial the port in this family. */
export function isExternallyReachable(port: ServicePort): boolean {
  return port.nodePort !== undefined || port.loadBalancerVIPs.length > 0 || port.externalIPs.length > 0;
}
