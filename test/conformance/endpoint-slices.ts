import type { Family } from '../../src/net/family.ts';
import { type JsonRecord, listOf, recordOf } from '../apiserver/api-object.ts';

/** What an endpoint controller knows of a pod. */
export interface PodState {
  /** Of the lab's host it runs in: a pod, or a node for one with the host's network. */
  readonly host: string;
  readonly addresses: Readonly<Partial<Record<Family, string>>>;
  readonly node: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it passes its readiness probe. */
  readonly ready: boolean;
  readonly terminating: boolean;
  /** What a named `targetPort` means to it; a number means itself. */
  readonly ports: Readonly<Record<string, number>>;
}

const HEADLESS = 'service.kubernetes.io/headless';

/**
 * The EndpointSlices of a Service: one for each family and each group of pods that give its ports the same numbers; none where it
 * has no selector, or no pod. Conditions, labels and hints as the real controller sets them.
 * Source: kubernetes/endpointslice reconciler.go, utils.go and topologycache
 */
export function computeSlices(
  service: JsonRecord,
  pods: readonly PodState[],
  families: readonly Family[],
): JsonRecord[] {
  const [spec, metadata] = [recordOf(service.spec), recordOf(service.metadata)];
  const selector = Object.entries(recordOf(spec.selector));
  if (selector.length === 0 || spec.type === 'ExternalName') return [];
  const chosen = pods.filter(({ labels }) => selector.every(([key, value]) => labels[key] === value));
  const wanted = listOf(spec.ipFamilies);
  return families
    .filter((family) => wanted.includes(family))
    .flatMap((family) =>
      [...Map.groupBy(chosen, (pod) => JSON.stringify(portsFor(spec, pod)))].map(([ports, group], index) => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: metadata.namespace,
          name: `${metadata.name}-${family.toLowerCase()}-${index}`,
          labels: labelsOf(metadata, spec),
        },
        addressType: family,
        ports: JSON.parse(ports),
        endpoints: group.map((pod) => endpointOf(spec, pod, family)),
      })),
    );
}

function portsFor(spec: JsonRecord, pod: PodState): readonly JsonRecord[] {
  return listOf(spec.ports).flatMap((each) => {
    const { name = '', protocol = 'TCP', port, targetPort } = recordOf(each);
    const number = typeof targetPort === 'string' ? pod.ports[targetPort] : (targetPort ?? port);
    return number === undefined ? [] : [{ name, protocol, port: number }];
  });
}

function labelsOf(metadata: JsonRecord, spec: JsonRecord): JsonRecord {
  const { [HEADLESS]: _, ...mirrored } = recordOf(metadata.labels);
  return {
    ...mirrored,
    ...(spec.clusterIP === 'None' ? { [HEADLESS]: '' } : {}),
    'kubernetes.io/service-name': metadata.name,
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
}

function endpointOf(spec: JsonRecord, pod: PodState, family: Family): JsonRecord {
  const { ready, terminating } = pod;
  return {
    addresses: [pod.addresses[family]],
    nodeName: pod.node,
    zone: pod.zone,
    conditions: {
      ready: spec.publishNotReadyAddresses === true || (ready && !terminating),
      serving: ready,
      terminating,
    },
    ...hintsOf(spec.trafficDistribution, pod),
  };
}

function hintsOf(distribution: unknown, { node, zone }: PodState): JsonRecord {
  const forZones = [{ name: zone }];
  switch (distribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return { hints: { forZones } };
    case 'PreferSameNode':
      return { hints: { forZones, forNodes: [{ name: node }] } };
    default:
      return {};
  }
}
