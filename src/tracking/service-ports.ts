import { type ServicePortKey, servicePortKey } from '../model/names.ts';
import type { Service, ServicePortSpec } from '../model/service.ts';
import type { ServicePort } from '../model/service-port.ts';
import { type Cidr, cidrFamily, prefixLength } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import { familyOf, type IpAddress } from '../net/ip-address.ts';

export type ServicePortMap = ReadonlyMap<ServicePortKey, ServicePort>;

/**
 * The service ports of one Service in one family. `undefined` when the Service is not served in it at all: headless, ExternalName, or
 * without a cluster address of the family. A served Service without ports gives an empty map; the two differ.
 *
 * Source: kubernetes/kubernetes pkg/proxy/servicechangetracker.go, serviceport.go
 */
export function servicePorts(service: Service, family: Family): ServicePortMap | undefined {
  const clusterIP = service.clusterIPs[family];
  if (service.clusterIP === undefined || service.clusterIP === 'None' || service.type === 'ExternalName')
    return undefined;
  if (clusterIP === undefined) return undefined;
  return new Map(
    service.ports.map((spec) => servicePort(service, spec, clusterIP, family)).map((port) => [port.key, port]),
  );
}

function servicePort(service: Service, spec: ServicePortSpec, clusterIP: IpAddress, family: Family): ServicePort {
  const ofFamily = (addresses: readonly IpAddress[]) => only(addresses, (address) => familyOf(address) === family);
  const externalPolicyLocal = service.externalTrafficPolicy === 'Local' && isExternal(service);
  return {
    key: servicePortKey(service.name, spec.name, spec.protocol),
    service: service.name,
    createdAt: service.createdAt,
    clusterIP,
    port: spec.port,
    protocol: spec.protocol,
    nodePort: spec.nodePort,
    affinitySeconds: service.affinitySeconds,
    internalPolicyLocal: service.internalTrafficPolicy === 'Local',
    externalPolicyLocal,
    externalIPs: ofFamily(service.externalIPs),
    loadBalancerVIPs: ofFamily(service.loadBalancerVIPs),
    loadBalancerProxies: ofFamily(service.loadBalancerProxies),
    ...sourceRanges(service, family),
    healthCheckNodePort:
      service.type === 'LoadBalancer' && externalPolicyLocal ? service.healthCheckNodePort : undefined,
  };
}

/** Only such a Service has an external traffic policy; the field may be left over on others. */
function isExternal(service: Service): boolean {
  return service.type === 'LoadBalancer' || service.type === 'NodePort' || service.externalIPs.length > 0;
}

/** A range of all addresses makes the list of its family empty, which allows every source of it and restricts none of the other. */
function sourceRanges(
  service: Service,
  family: Family,
): Pick<ServicePort, 'loadBalancerSourceRanges' | 'restrictedElsewhere'> {
  const own = only(service.loadBalancerSourceRanges, (range) => cidrFamily(range) === family);
  const others = service.loadBalancerSourceRanges.filter((range) => cidrFamily(range) !== family);
  const restricts = others.length > 0 || service.hasUnusableSourceRange;
  return {
    loadBalancerSourceRanges: own.some(isEveryone) ? [] : own,
    restrictedElsewhere: own.length === 0 && restricts && !others.some(isEveryone),
  };
}

/** The list itself when all of it is wanted: nearly all are empty. */
function only<T>(list: readonly T[], isWanted: (item: T) => boolean): readonly T[] {
  return list.every(isWanted) ? list : list.filter(isWanted);
}

function isEveryone(range: Cidr): boolean {
  return prefixLength(range) === 0;
}
