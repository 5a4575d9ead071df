import type { Family } from '../../src/net/family.ts';
import {
  nodeObject,
  type ObjectJson,
  type ServiceFields,
  serviceObject,
  sliceObject,
} from '../kernel/cluster-objects.ts';
import { addressOf, homeOf, NODE_NAMES, PLACE } from './place.ts';

/** An object of the API server that is made for one family. */
export type Sketch = (family: Family) => ObjectJson;

type Given = Omit<ServiceFields, 'clusterIPs' | 'ipFamilies' | 'externalIPs' | 'ingress'>;

export interface ServiceGiven extends Given {
  /** Default `cart`. */
  readonly name?: string;
  /** Names of addresses, see place.ts; an address of no family in particular stands for itself. */
  readonly at?: string | readonly string[];
  readonly externalIPs?: readonly string[];
  readonly balancers?: readonly string[];
  /** Address ranges by family; others go to both. */
  readonly rangesOf?: Readonly<Record<Family, readonly string[]>>;
}

/** Service `shop/cart` at `cluster` with port 80, TCP, unless something else is given. */
export function service(given: ServiceGiven = {}): Sketch {
  const { name = 'cart', at = 'cluster', externalIPs = [], balancers = [], rangesOf, ...fields } = given;
  return (family) => {
    const named = (names: readonly string[]) => names.map((each) => addressOf(each, family));
    const ranges = rangesOf ? { loadBalancerSourceRanges: rangesOf[family] } : {};
    return serviceObject(`shop/${name}`, {
      ...fields,
      ...ranges,
      clusterIPs: at === 'None' ? ['None'] : named([at].flat()),
      ...(externalIPs.length > 0 ? { externalIPs: named(externalIPs) } : {}),
      ...(balancers.length > 0 ? { ingress: named(balancers).map((each) => ({ ip: each, ipMode: 'VIP' })) } : {}),
    });
  };
}

/** A Service that is a name only. */
export function externalName(name = 'cart'): Sketch {
  return () => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name },
    spec: { type: 'ExternalName', externalName: 'example.org', sessionAffinity: 'None' },
    status: { loadBalancer: {} },
  });
}

/** One port with a node port, TCP unless given. */
export function nodePort(number: number, more: ObjectJson = {}): ObjectJson {
  return { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: number, ...more };
}

export interface EndpointGiven {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
  readonly zones?: readonly string[];
  readonly nodes?: readonly string[];
}

export type EndpointSketch = (family: Family) => ObjectJson;

/** An endpoint that is a pod, or a node for a pod in the network of its host; ready unless given. */
export function endpoint(name: string, given: EndpointGiven = {}): EndpointSketch {
  const { ready = true, serving = ready, terminating = false, zones, nodes } = given;
  const hints = {
    ...(zones ? { forZones: zones.map((zone) => ({ name: zone })) } : {}),
    ...(nodes ? { forNodes: nodes.map((node) => ({ name: node })) } : {}),
  };
  return (family) => ({
    addresses: [addressOf(name, family)],
    conditions: { ready, serving, terminating },
    nodeName: homeOf(name),
    targetRef: { kind: 'Pod', namespace: 'shop', name },
    ...(zones || nodes ? { hints } : {}),
  });
}

/** Terminates and still passes its readiness check. */
export function leaving(name: string): EndpointSketch {
  return endpoint(name, { ready: false, serving: true, terminating: true });
}

/** The slice of `shop/cart` with these endpoints at port 8080, TCP; several slices of a Service differ by name. */
export function slice(
  endpoints: readonly (string | EndpointSketch)[],
  given: {
    readonly service?: string;
    readonly name?: string;
    readonly ports?: readonly ObjectJson[];
    readonly labels?: Readonly<Record<string, string>>;
  } = {},
): Sketch {
  const { service: of = 'cart', name = '1', ports, labels = {} } = given;
  return (family) =>
    sliceObject(`shop/${of}-${name}`, {
      service: of,
      family,
      labels,
      endpoints: endpoints.map((each) => (typeof each === 'string' ? endpoint(each) : each)(family)),
      ...(ports ? { ports } : {}),
    });
}

/** The Node objects of all nodes, with addresses of both families. */
export const NODES: readonly ObjectJson[] = NODE_NAMES.map((name) => {
  const { number, zone } = PLACE[name];
  const podCIDRs = [`10.180.${number}.0/24`, `fd00:180:${number}::/64`];
  return nodeObject(name, { addresses: [addressOf(name, 'IPv4'), addressOf(name, 'IPv6')], podCIDRs, zone });
});
