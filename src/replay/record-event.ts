import { record } from '../kube/fields.ts';
import { type EventType, formatTraceEvent, TRACED_KINDS, type TracedKind } from './trace-event.ts';

/** What is kept of a JSON value: all of it, these fields of an object, or the same of every item of a list. */
type Kept = true | { readonly [field: string]: Kept } | readonly [Kept];

/**
 * One line of a trace, without its end, for an object as the API server gives it. It holds what selections, decoders and the cache read,
 * as it stands, and nothing else: no annotations, managed fields or status text, and no labels but those.
 */
export function recordEvent(type: EventType, kind: TracedKind, object: unknown, atMs: number): string {
  const { apiVersion, kind: ownKind, ...rest } = record(object);
  const kept = record(cut(rest, KEPT[kind]));
  return formatTraceEvent({ atMs, type, object: { apiVersion: TRACED_KINDS[kind], kind, ...kept } });
}

const NAMES = { namespace: true, name: true, uid: true, resourceVersion: true } as const;

const KEPT: Readonly<Record<TracedKind, Kept>> = {
  Service: {
    metadata: {
      ...NAMES,
      creationTimestamp: true,
      labels: { 'service.kubernetes.io/service-proxy-name': true, 'service.kubernetes.io/headless': true },
    },
    spec: {
      type: true,
      clusterIP: true,
      clusterIPs: true,
      ipFamilies: true,
      ports: [{ name: true, protocol: true, port: true, nodePort: true }],
      sessionAffinity: true,
      sessionAffinityConfig: true,
      internalTrafficPolicy: true,
      externalTrafficPolicy: true,
      externalIPs: true,
      loadBalancerSourceRanges: true,
      healthCheckNodePort: true,
    },
    status: { loadBalancer: { ingress: [{ ip: true, ipMode: true }] } },
  },
  EndpointSlice: {
    metadata: {
      ...NAMES,
      labels: { 'kubernetes.io/service-name': true, 'service.kubernetes.io/headless': true },
    },
    addressType: true,
    ports: [{ name: true, protocol: true, port: true }],
    endpoints: [{ addresses: true, conditions: true, nodeName: true, zone: true, hints: true }],
  },
  Node: {
    metadata: { ...NAMES, deletionTimestamp: true, labels: { 'topology.kubernetes.io/zone': true } },
    spec: { podCIDR: true, podCIDRs: true, taints: [{ key: true }] },
    status: { addresses: [{ type: true, address: true }] },
  },
};

/** A value of another shape than expected is kept whole: what is wrong with it has to show in the replay, too. */
function cut(value: unknown, kept: Kept): unknown {
  if (kept === true || typeof value !== 'object' || value === null) return value;
  if (isList(kept)) return Array.isArray(value) ? value.map((item) => cut(item, kept[0])) : value;
  if (Array.isArray(value)) return value;
  const fields = Object.entries(value).filter(([field]) => Object.hasOwn(kept, field));
  return Object.fromEntries(fields.map(([field, inner]) => [field, cut(inner, kept[field] ?? true)]));
}

function isList(kept: Exclude<Kept, true>): kept is readonly [Kept] {
  return Array.isArray(kept);
}
