import { serviceName } from '../model/names.ts';
import type { Decoded } from '../model/problem.ts';
import type { Service, ServicePortSpec } from '../model/service.ts';
import { type Cidr, parseCidr } from '../net/cidr.ts';
import { FAMILIES } from '../net/family.ts';
import { familyOf, type IpAddress, isDialable, parseIpAddress } from '../net/ip-address.ts';
import { parsePort } from '../net/port.ts';
import { PROTOCOLS } from '../net/protocol.ts';
import { complain, frozen, type Json, list, oneOf, type Reader, readerFor, record, show, text } from './fields.ts';

/**
 * Cuts a core/v1 Service down to what kernel state depends on. Fields that the API server would have filled in get their defaults. A
 * port or address that cannot be used is left out with a problem, the rest is kept; without a name there is no value.
 */
export function decodeService(json: unknown): Decoded<Service> {
  const reader = readerFor(json, 'Service');
  const { metadata, spec, status } = parts(json);
  const [namespace, name] = [text(metadata.namespace) ?? 'default', text(metadata.name)];
  if (name === undefined || name === '') {
    complain(reader, 'metadata.name', 'is missing; the Service is left out');
    return { problems: reader.problems };
  }
  const type = readType(reader, spec);
  const clusterIP = readClusterIP(reader, type, spec.clusterIP);
  const served = clusterIP !== undefined && clusterIP !== 'None' && type !== 'ExternalName';
  const clusterIPs = Object.freeze(served ? readClusterIPs(reader, spec, clusterIP) : {});
  const value: Service = {
    name: serviceName(namespace, name),
    createdAt: text(metadata.creationTimestamp) ?? '',
    type,
    clusterIP,
    clusterIPs,
    ports: frozen(served ? readPorts(reader, spec) : []),
    affinitySeconds: readAffinity(reader, spec),
    internalTrafficPolicy: readPolicy(reader, spec, 'internalTrafficPolicy'),
    externalTrafficPolicy: readPolicy(reader, spec, 'externalTrafficPolicy'),
    externalIPs: frozen(readExternalIPs(reader, spec, clusterIPs)),
    loadBalancerVIPs: frozen(readVIPs(reader, status, clusterIPs)),
    loadBalancerProxies: frozen(readProxies(status)),
    ...readRanges(reader, spec),
    healthCheckNodePort: readNodePort(reader, 'spec.healthCheckNodePort', spec.healthCheckNodePort),
  };
  return { value: Object.freeze(value), problems: reader.problems };
}

function parts(json: unknown): { metadata: Json; spec: Json; status: Json } {
  const object = record(json);
  return { metadata: record(object.metadata), spec: record(object.spec), status: record(object.status) };
}

function readType(reader: Reader, spec: Json): Service['type'] {
  const types = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'] as const;
  return oneOf(reader, 'spec.type', spec.type, types, 'it is treated as ClusterIP') ?? 'ClusterIP';
}

function readClusterIP(reader: Reader, type: Service['type'], value: unknown): IpAddress | 'None' | undefined {
  if (value === 'None') return value;
  if (value === undefined || value === null || value === '') {
    return type === 'ExternalName'
      ? undefined
      : complain(reader, 'spec.clusterIP', 'is missing; the Service is not served');
  }
  return (
    parseFrontend(value) ??
    complain(reader, 'spec.clusterIP', `${show(value)} ${NO_FRONTEND}; the Service is not served`)
  );
}

/** By position in `ipFamilies`; objects from before that field have one address only. */
function readClusterIPs(reader: Reader, spec: Json, clusterIP: IpAddress): Service['clusterIPs'] {
  const families = list(reader, 'spec.ipFamilies', spec.ipFamilies);
  if (families.length === 0) return { [familyOf(clusterIP)]: clusterIP };
  const addresses = list(reader, 'spec.clusterIPs', spec.clusterIPs);
  const found: { [family in (typeof FAMILIES)[number]]?: IpAddress } = {};
  for (const family of FAMILIES) {
    const index = families.indexOf(family);
    const written = index === 0 && addresses.length === 0 ? clusterIP : addresses[index];
    if (index < 0 || written === undefined) continue;
    const address = parseFrontend(written);
    if (address !== undefined && familyOf(address) === family) found[family] = address;
    else
      complain(reader, `spec.clusterIPs[${index}]`, `${show(written)} is not an ${family} address; it is not served`);
  }
  return found;
}

function readPorts(reader: Reader, spec: Json): readonly ServicePortSpec[] {
  const ports = list(reader, 'spec.ports', spec.ports);
  if (ports.length === 0 && Array.isArray(spec.ports ?? []))
    complain(reader, 'spec.ports', 'has no port; nothing of the Service is served');
  return ports.flatMap((entry, index) => readServicePort(reader, `spec.ports[${index}]`, record(entry)) ?? []);
}

function readServicePort(reader: Reader, field: string, entry: Json): ServicePortSpec | undefined {
  const protocol = oneOf(reader, `${field}.protocol`, entry.protocol, PROTOCOLS_FIRST_TCP, 'the port is left out');
  const port = parsePort(entry.port);
  if (port === undefined) {
    return complain(reader, `${field}.port`, `${show(entry.port)} is not a port from 1 to 65535; the port is left out`);
  }
  if (protocol === undefined) return undefined;
  return Object.freeze({
    name: text(entry.name) ?? '',
    protocol,
    port,
    nodePort: readNodePort(reader, `${field}.nodePort`, entry.nodePort),
  });
}

function readNodePort(reader: Reader, field: string, value: unknown): ServicePortSpec['nodePort'] {
  if (value === undefined || value === null || value === 0) return undefined;
  const message = `${show(value)} is not a port from 1 to 65535; the node port is not served`;
  return parsePort(value) ?? complain(reader, field, message);
}

function readAffinity(reader: Reader, spec: Json): number {
  if (spec.sessionAffinity !== 'ClientIP') return 0;
  const seconds = record(record(spec.sessionAffinityConfig).clientIP).timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 1 && seconds <= 86400) return seconds;
  const message = `${show(seconds)} is not a number of seconds from 1 to 86400; ${DEFAULT_AFFINITY_SECONDS} is used`;
  complain(reader, 'spec.sessionAffinityConfig.clientIP.timeoutSeconds', message);
  return DEFAULT_AFFINITY_SECONDS;
}

function readPolicy(reader: Reader, spec: Json, name: 'internalTrafficPolicy' | 'externalTrafficPolicy') {
  return oneOf(reader, `spec.${name}`, spec[name], ['Cluster', 'Local'], 'Cluster is used') ?? 'Cluster';
}

function readVIPs(reader: Reader, status: Json, clusterIPs: Service['clusterIPs']): readonly IpAddress[] {
  const ingress = list(reader, 'status.loadBalancer.ingress', record(status.loadBalancer).ingress);
  return ingress.flatMap((entry, index) => {
    const { ip, ipMode } = record(entry);
    if ((ip ?? '') === '' || (ipMode ?? 'VIP') !== 'VIP') return [];
    return readAddress(reader, `status.loadBalancer.ingress[${index}].ip`, ip, clusterIPs) ?? [];
  });
}

/** Nothing is served at them, so nothing is said of those that cannot be read. */
function readProxies(status: Json): readonly IpAddress[] {
  const { ingress } = record(status.loadBalancer);
  return (Array.isArray(ingress) ? ingress : []).flatMap((entry) => {
    const { ip, ipMode } = record(entry);
    return ipMode === 'Proxy' && typeof ip === 'string' ? (parseFrontend(ip) ?? []) : [];
  });
}

function readExternalIPs(reader: Reader, spec: Json, clusterIPs: Service['clusterIPs']): readonly IpAddress[] {
  return list(reader, 'spec.externalIPs', spec.externalIPs).flatMap((entry, index) =>
    String(entry).trim() === '' ? [] : (readAddress(reader, `spec.externalIPs[${index}]`, entry, clusterIPs) ?? []),
  );
}

/** A Service has what its cluster addresses have; one without any is not served, and nothing is said of it here. */
function readAddress(
  reader: Reader,
  field: string,
  value: unknown,
  clusterIPs: Service['clusterIPs'],
): IpAddress | undefined {
  const address = parseFrontend(value);
  if (!address) return complain(reader, field, `${show(value)} ${NO_FRONTEND}; it is not served`);
  if (Object.keys(clusterIPs).length === 0 || clusterIPs[familyOf(address)]) return address;
  return complain(reader, field, `${show(value)} is of a family that the Service does not have; it is not served`);
}

/** An address that a Service can be dialled at; the kernel refuses others, or nobody could reach them. */
function parseFrontend(value: unknown): IpAddress | undefined {
  const address = parseIpAddress(String(value));
  return address !== undefined && isDialable(address) ? address : undefined;
}

const NO_FRONTEND = 'is not an IP address to dial';

function readRanges(reader: Reader, spec: Json): Pick<Service, 'loadBalancerSourceRanges' | 'hasUnusableSourceRange'> {
  const ranges = list(reader, 'spec.loadBalancerSourceRanges', spec.loadBalancerSourceRanges);
  const read = ranges.map((entry, index): Cidr | undefined => {
    const message = `${show(entry)} is not a CIDR; nobody is allowed because of it`;
    const field = `spec.loadBalancerSourceRanges[${index}]`;
    return parseCidr(String(entry).trim()) ?? complain(reader, field, message);
  });
  const usable = read.filter((range) => range !== undefined);
  return { loadBalancerSourceRanges: frozen(usable), hasUnusableSourceRange: usable.length < read.length };
}

const DEFAULT_AFFINITY_SECONDS = 10800;
const PROTOCOLS_FIRST_TCP = PROTOCOLS as readonly ['TCP', 'UDP', 'SCTP'];
