import { isIPv6 } from 'node:net';
import type { Allocator, IpFamily } from './allocator.ts';
import { type ApiObject, type JsonRecord, listOf, recordOf, withoutUndefined } from './api-object.ts';

/**
 * A Service with everything the API server fills in: defaults, cluster IPs, node ports. Values that are given stay, values that
 * are not come from `previous` where the real server keeps them. The cluster is dual-stack with IPv4 first.
 * Source: kubernetes/kubernetes pkg/apis/core/v1/defaults.go and pkg/registry/core/service/storage/alloc.go
 */
export function completeService(service: ApiObject, previous: ApiObject | undefined, allocator: Allocator): ApiObject {
  const given = recordOf(service.spec);
  const before = recordOf(previous?.spec);
  const type = String(given.type ?? 'ClusterIP');
  const spec = {
    ...given,
    ...(type === 'ExternalName' ? noClusterIps() : clusterIps(given, before, allocator)),
    type,
    ports: completePorts(given, before, type, allocator),
    sessionAffinity: given.sessionAffinity ?? 'None',
    sessionAffinityConfig: affinityConfig(given),
    internalTrafficPolicy: given.internalTrafficPolicy ?? (type === 'ExternalName' ? undefined : 'Cluster'),
    ...externalFields(given, before, type, allocator),
  };
  return { ...service, spec: withoutUndefined(spec), status: service.status ?? { loadBalancer: {} } };
}

function noClusterIps(): JsonRecord {
  return { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined };
}

function clusterIps(given: JsonRecord, before: JsonRecord, allocator: Allocator): JsonRecord {
  const own = given.clusterIP ?? before.clusterIP;
  const listed = listOf(given.clusterIPs ?? (own === before.clusterIP ? before.clusterIPs : undefined)).map(String);
  const known = listed.length > 0 ? listed : own === undefined || own === '' ? [] : [String(own)];
  const families = ipFamilies(given, known, before);
  const addresses =
    known[0] === 'None' ? known : families.map((family, index) => known[index] ?? allocator.clusterIp(family));
  const ipFamilyPolicy = given.ipFamilyPolicy ?? (families.length > 1 ? 'PreferDualStack' : 'SingleStack');
  return { clusterIP: addresses[0], clusterIPs: addresses, ipFamilies: families, ipFamilyPolicy };
}

function ipFamilies(given: JsonRecord, known: readonly string[], before: JsonRecord): readonly IpFamily[] {
  const fromAddresses = known
    .filter((address) => address !== 'None')
    .map((address) => (isIPv6(address) ? 'IPv6' : 'IPv4'));
  const asked = listOf(given.ipFamilies).map((family) => (family === 'IPv6' ? 'IPv6' : 'IPv4'));
  const earlier = listOf(before.ipFamilies).map((family) => (family === 'IPv6' ? 'IPv6' : 'IPv4'));
  const chosen = [asked, fromAddresses, earlier].find((families) => families.length > 0) ?? ['IPv4'];
  if (given.ipFamilyPolicy === 'SingleStack') return chosen.slice(0, 1);
  const dual = given.ipFamilyPolicy === 'PreferDualStack' || given.ipFamilyPolicy === 'RequireDualStack';
  if (!dual || chosen.length > 1) return chosen;
  return chosen[0] === 'IPv6' ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6'];
}

function completePorts(
  given: JsonRecord,
  before: JsonRecord,
  type: string,
  allocator: Allocator,
): readonly JsonRecord[] | undefined {
  if (given.ports === undefined) return undefined;
  const hasNodePorts =
    type === 'NodePort' || (type === 'LoadBalancer' && given.allocateLoadBalancerNodePorts !== false);
  return listOf(given.ports).map((each) => {
    const port = recordOf(each);
    const complete = { ...port, protocol: port.protocol ?? 'TCP', targetPort: port.targetPort ?? port.port };
    const earlier = listOf(before.ports)
      .map(recordOf)
      .find((other) => other.port === port.port && other.protocol === complete.protocol);
    const wanted = port.nodePort === 0 ? undefined : port.nodePort;
    if (hasNodePorts) return { ...complete, nodePort: wanted ?? earlier?.nodePort ?? allocator.nodePort() };
    return withoutUndefined({
      ...complete,
      nodePort: isExternal(type) || wanted !== earlier?.nodePort ? wanted : undefined,
    });
  });
}

function affinityConfig(given: JsonRecord): unknown {
  if (given.sessionAffinity !== 'ClientIP') return given.sessionAffinityConfig;
  const clientIP = recordOf(recordOf(given.sessionAffinityConfig).clientIP);
  return { clientIP: { ...clientIP, timeoutSeconds: clientIP.timeoutSeconds ?? 10800 } };
}

function externalFields(given: JsonRecord, before: JsonRecord, type: string, allocator: Allocator): JsonRecord {
  if (!isExternal(type)) {
    const kept = given.externalTrafficPolicy === before.externalTrafficPolicy ? undefined : given.externalTrafficPolicy;
    return { externalTrafficPolicy: kept };
  }
  const externalTrafficPolicy = given.externalTrafficPolicy ?? 'Cluster';
  const checked = type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
  return {
    externalTrafficPolicy,
    healthCheckNodePort:
      given.healthCheckNodePort ?? (checked ? (before.healthCheckNodePort ?? allocator.nodePort()) : undefined),
    allocateLoadBalancerNodePorts: given.allocateLoadBalancerNodePorts ?? (type === 'LoadBalancer' ? true : undefined),
  };
}

function isExternal(type: string): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}
