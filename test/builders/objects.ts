import type { ProxySettings } from '../../src/desired/settings.ts';
import type { Endpoint } from '../../src/model/endpoint.ts';
import type { EndpointSlice, SliceEndpoint, SlicePort } from '../../src/model/endpoint-slice.ts';
import { serviceName, servicePortKey } from '../../src/model/names.ts';
import type { NodeView } from '../../src/model/node-view.ts';
import type { Service, ServicePortSpec } from '../../src/model/service.ts';
import type { ServicePort } from '../../src/model/service-port.ts';
import { type InterfaceAddress, parseInterfaceAddress } from '../../src/net/cidr.ts';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { familyOf, type IpAddress } from '../../src/net/ip-address.ts';
import { ip, port } from './net.ts';

/** A ready endpoint elsewhere, `10.180.1.1:8080`. */
export function endpoint(given: Partial<Endpoint> = {}): Endpoint {
  return {
    address: ip('10.180.1.1'),
    port: port(8080),
    ready: true,
    serving: true,
    terminating: false,
    local: false,
    zoneHints: [],
    nodeHints: [],
    ...given,
  };
}

/** TCP port 80 of `172.20.1.1`, a plain ClusterIP port of `shop/cart`. */
export function servicePort(
  given: Partial<ServicePort> & { readonly name?: string; readonly portName?: string } = {},
): ServicePort {
  const { name = 'shop/cart', portName = 'http', ...facts } = given;
  const [namespace = '', own = ''] = name.split('/');
  const service = serviceName(namespace, own);
  const protocol = facts.protocol ?? 'TCP';
  return {
    key: servicePortKey(service, portName, protocol),
    service,
    createdAt: '',
    clusterIP: ip('172.20.1.1'),
    port: port(80),
    protocol,
    nodePort: undefined,
    affinitySeconds: 0,
    internalPolicyLocal: false,
    externalPolicyLocal: false,
    externalIPs: [],
    loadBalancerVIPs: [],
    loadBalancerProxies: [],
    loadBalancerSourceRanges: [],
    restrictedElsewhere: false,
    healthCheckNodePort: undefined,
    ...facts,
  };
}

/** A ClusterIP Service `shop/cart` with one port, `http` TCP 80. */
export function service(
  given: Partial<Omit<Service, 'name' | 'clusterIPs'>> & {
    readonly name?: string;
    readonly addresses?: readonly string[];
  } = {},
): Service {
  const { name = 'shop/cart', addresses = ['172.20.1.1'], ...facts } = given;
  const [namespace = '', own = ''] = name.split('/');
  const parsed = addresses.map(ip);
  return {
    name: serviceName(namespace, own),
    createdAt: '',
    type: 'ClusterIP',
    clusterIP: parsed[0],
    clusterIPs: byFamily(parsed),
    ports: [portSpec()],
    affinitySeconds: 0,
    internalTrafficPolicy: 'Cluster',
    externalTrafficPolicy: 'Cluster',
    externalIPs: [],
    loadBalancerVIPs: [],
    loadBalancerProxies: [],
    loadBalancerSourceRanges: [],
    hasUnusableSourceRange: false,
    healthCheckNodePort: undefined,
    ...facts,
  };
}

export function portSpec(given: Partial<ServicePortSpec> = {}): ServicePortSpec {
  return { name: 'http', protocol: 'TCP', port: port(80), nodePort: undefined, ...given };
}

/** Slice `shop/cart-1` of Service `shop/cart` with port `http` TCP 8080 and the endpoints given. */
export function slice(
  given: Partial<Omit<EndpointSlice, 'service'>> & { readonly service?: string } = {},
): EndpointSlice {
  const { service: of = 'shop/cart', ...facts } = given;
  const [namespace = '', own = ''] = of.split('/');
  return {
    name: 'shop/cart-1',
    service: serviceName(namespace, own),
    family: 'IPv4',
    ports: [slicePort()],
    endpoints: [],
    ...facts,
  };
}

export function slicePort(given: Partial<SlicePort> = {}): SlicePort {
  return { name: 'http', protocol: 'TCP', port: port(8080), ...given };
}

/** A ready endpoint of a slice on no known node. */
export function sliceEndpoint(address: string, given: Partial<Omit<SliceEndpoint, 'address'>> = {}): SliceEndpoint {
  return {
    address: ip(address),
    ready: true,
    serving: true,
    terminating: false,
    nodeName: undefined,
    zoneHints: [],
    nodeHints: [],
    ...given,
  };
}

/** Node `node-a` in no zone with the interfaces given, e.g. `{ eth0: ['192.168.0.10/24'] }`. */
export function nodeView(
  given: Partial<Omit<NodeView, 'interfaces'>> & {
    readonly interfaces?: Readonly<Record<string, readonly string[]>>;
  } = {},
): NodeView {
  const { interfaces = { eth0: ['192.168.0.10/24'] }, ...facts } = given;
  const parsed = Object.entries(interfaces).map(([name, texts]) => [name, texts.map(interfaceAddress)] as const);
  return {
    name: 'node-a',
    zone: undefined,
    podCIDRs: [],
    addresses: [],
    otherNodeAddresses: new Set(),
    interfaces: new Map(parsed),
    ...facts,
  };
}

export function settings(given: Partial<ProxySettings> = {}): ProxySettings {
  return {
    behaviour: 'documented',
    scheduler: 'rr',
    schedulerFlags: undefined,
    weights: undefined,
    masqueradeAll: false,
    masqueradeBit: 14,
    randomFully: true,
    detectLocal: { kind: 'cluster-cidr', cidrs: [] },
    nodePortAddresses: [],
    nodeAddress: undefined,
    excludeCIDRs: [],
    setRoom: 65_536,
    ...given,
  };
}

function interfaceAddress(text: string): InterfaceAddress {
  const parsed = parseInterfaceAddress(text);
  if (!parsed) throw new Error(`a test needs a valid address, not ${text}`);
  return parsed;
}

/** The first address of each family. */
function byFamily(addresses: readonly IpAddress[]): Service['clusterIPs'] {
  const found: { [family in Family]?: IpAddress } = {};
  for (const family of FAMILIES) {
    const address = addresses.find((candidate) => familyOf(candidate) === family);
    if (address !== undefined) found[family] = address;
  }
  return found;
}
