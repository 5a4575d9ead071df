import type { Cidr } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import type { Protocol } from '../net/protocol.ts';
import type { ServiceName } from './names.ts';

export type TrafficPolicy = 'Cluster' | 'Local';

/** What kernel state depends on in a Service, both families together; everything else of the object is left behind. */
export interface Service {
  readonly name: ServiceName;
  /** When the object was created, as RFC 3339 in UTC, so that earlier sorts first; `''` when it does not say. */
  readonly createdAt: string;
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  /** `None` for a headless Service, `undefined` when no address was assigned. */
  readonly clusterIP: IpAddress | 'None' | undefined;
  /** The cluster address of each family that has one. */
  readonly clusterIPs: Readonly<Partial<Record<Family, IpAddress>>>;
  readonly ports: readonly ServicePortSpec[];
  /** Seconds that a client stays with its endpoint; 0 without affinity. */
  readonly affinitySeconds: number;
  readonly internalTrafficPolicy: TrafficPolicy;
  readonly externalTrafficPolicy: TrafficPolicy;
  /** Of both families, in the object's order. */
  readonly externalIPs: readonly IpAddress[];
  /** Load-balancer addresses with `ipMode: VIP`, both families. */
  readonly loadBalancerVIPs: readonly IpAddress[];
  /** Load-balancer addresses with `ipMode: Proxy`, both families: the node sends to the load balancer what is for them. */
  readonly loadBalancerProxies: readonly IpAddress[];
  /** Of both families; empty means that every source is allowed. */
  readonly loadBalancerSourceRanges: readonly Cidr[];
  /** Some source range of the object could not be read. */
  readonly hasUnusableSourceRange: boolean;
  readonly healthCheckNodePort: Port | undefined;
}

/** A Service that the API server does not give to this proxy. */
export interface UnselectedService {
  readonly service: Service;
  /** Name of the proxy to which a label leaves it; `undefined` where it has none and is headless. */
  readonly otherProxy: string | undefined;
}

export interface ServicePortSpec {
  /** `''` for the only, unnamed port. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: Port;
  readonly nodePort: Port | undefined;
}
