/** A Service as a person writes it; the API server fills in the rest. */
export interface ServiceSketch {
  readonly name: string;
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  readonly clusterIPs?: readonly string[];
  readonly ports: readonly {
    readonly name: string;
    readonly protocol: 'TCP' | 'UDP' | 'SCTP';
    readonly port: number;
    readonly nodePort?: number;
  }[];
  /** Further fields of the spec, such as policies and external addresses. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface PodSketch {
  readonly address: string;
  readonly nodeName: string;
  /** Unless given, it is. */
  readonly ready?: boolean;
}

export const NAMESPACE = 'shop';

export function service({ name, type = 'ClusterIP', clusterIPs, ports, spec }: ServiceSketch): Record<string, unknown> {
  const families = clusterIPs?.map((address) => (address.includes(':') ? 'IPv6' : 'IPv4'));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: NAMESPACE, name },
    spec: {
      type,
      selector: { app: name },
      ports,
      ...(clusterIPs ? { clusterIP: clusterIPs[0], clusterIPs, ipFamilies: families } : {}),
      ...(clusterIPs && clusterIPs.length > 1 ? { ipFamilyPolicy: 'RequireDualStack' } : {}),
      ...spec,
    },
  };
}

/** The slice that a controller would keep for these pods; all of one family. */
export function slice(
  of: ServiceSketch,
  targetPort: number,
  pods: readonly PodSketch[],
  family: 'IPv4' | 'IPv6' = 'IPv4',
) {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: NAMESPACE,
      name: `${of.name}-${family.toLowerCase()}`,
      labels: { 'kubernetes.io/service-name': of.name },
    },
    addressType: family,
    ports: of.ports.map(({ name, protocol }) => ({ name, protocol, port: targetPort })),
    endpoints: pods.map(({ address, nodeName, ready = true }) => ({
      addresses: [address],
      nodeName,
      conditions: { ready, serving: ready, terminating: false },
    })),
  };
}

export function node(
  name: string,
  addresses: readonly string[],
  zone?: string,
  podCIDRs: readonly string[] = [],
): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, ...(zone ? { 'topology.kubernetes.io/zone': zone } : {}) },
    },
    spec: { podCIDRs },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  };
}
