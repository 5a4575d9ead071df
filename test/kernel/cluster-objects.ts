/** Part of an object as the API server sends it. */
export type ObjectJson = Readonly<Record<string, unknown>>;

export interface ServiceFields {
  readonly type?: string;
  /** `['None']` for a headless Service, `[]` for one without address. */
  readonly clusterIPs?: readonly string[];
  /** By default those of `clusterIPs`. */
  readonly ipFamilies?: readonly string[];
  readonly ports?: readonly ObjectJson[];
  /** `undefined` for no affinity. */
  readonly affinitySeconds?: number | undefined;
  readonly internalTrafficPolicy?: 'Cluster' | 'Local';
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  readonly externalIPs?: readonly string[];
  /** Entries of `status.loadBalancer.ingress`. */
  readonly ingress?: readonly ObjectJson[];
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly healthCheckNodePort?: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A Service `namespace/name` as the API server has it; by default a ClusterIP at `172.20.1.1` with port `http` TCP 80. */
export function serviceObject(name: string, fields: ServiceFields = {}): ObjectJson {
  const { type = 'ClusterIP', clusterIPs = ['172.20.1.1'], ports = [HTTP], ...given } = fields;
  const { affinitySeconds, ingress = [], labels = {}, ipFamilies = clusterIPs.map(familyName), ...spec } = given;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...nameParts(name), labels },
    spec: {
      type,
      ...(clusterIPs.length > 0 ? { clusterIP: clusterIPs[0], clusterIPs, ipFamilies } : {}),
      selector: { app: name },
      ports,
      sessionAffinity: affinitySeconds === undefined ? 'None' : 'ClientIP',
      ...(affinitySeconds === undefined
        ? {}
        : { sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } } }),
      ...spec,
    },
    status: { loadBalancer: ingress.length > 0 ? { ingress } : {} },
  };
}

export interface SliceFields {
  /** Name of the Service in the same namespace. */
  readonly service: string;
  readonly family?: 'IPv4' | 'IPv6';
  readonly ports?: readonly ObjectJson[];
  readonly endpoints: readonly ObjectJson[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** An EndpointSlice `namespace/name`; by default of IPv4 with port `http` TCP 8080. */
export function sliceObject(name: string, fields: SliceFields): ObjectJson {
  const { service, family = 'IPv4', ports = [{ ...HTTP, port: 8080 }], endpoints, labels = {} } = fields;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...nameParts(name), labels: { 'kubernetes.io/service-name': service, ...labels } },
    addressType: family,
    ports,
    endpoints,
  };
}

/** A ready endpoint of a slice on the node given. */
export function endpointJson(address: string, nodeName: string, more: ObjectJson = {}): ObjectJson {
  return { addresses: [address], nodeName, conditions: { ready: true, serving: true, terminating: false }, ...more };
}

export function nodeObject(
  name: string,
  fields: {
    readonly addresses?: readonly string[];
    readonly podCIDRs?: readonly string[];
    readonly zone?: string;
  } = {},
): ObjectJson {
  const { addresses = [], podCIDRs = [], zone } = fields;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone } },
    spec: { podCIDRs },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  };
}

const HTTP = { name: 'http', protocol: 'TCP', port: 80 };

function nameParts(name: string): ObjectJson {
  const [namespace, own] = name.split('/');
  return { namespace, name: own };
}

function familyName(address: string): string {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}
