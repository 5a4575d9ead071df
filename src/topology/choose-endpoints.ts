import { type Endpoint, endpointKey } from '../model/endpoint.ts';
import { isExternallyReachable, type ServicePort } from '../model/service-port.ts';

/** The endpoints that this node may use for one service port. */
export interface ChosenEndpoints {
  /** For traffic under policy Cluster; `undefined` when the port never has such traffic. */
  readonly cluster: readonly Endpoint[] | undefined;
  /** For traffic under policy Local; `undefined` when the port never has such traffic. Empty when no local one is usable. */
  readonly local: readonly Endpoint[] | undefined;
  /** Everything that this node may send to, sorted as the input. */
  readonly reachable: readonly Endpoint[];
  /** True when some endpoint of the cluster is usable, be it reachable or not. */
  readonly hasAny: boolean;
}

/** Where the node stands; `zone` is its topology label, `undefined` without one. */
export interface NodePlace {
  readonly name: string;
  readonly zone: string | undefined;
}

/**
 * Chooses by readiness, traffic policy and hints. Where nothing is ready, endpoints that serve while they terminate stand in, and
 * hints are passed over; the cluster and the local list decide that each for itself.
 *
 * Source: kubernetes/kubernetes pkg/proxy/topology.go
 */
export function chooseEndpoints(endpoints: readonly Endpoint[], port: ServicePort, node: NodePlace): ChosenEndpoints {
  const external = isExternallyReachable(port);
  const usesCluster = !port.internalPolicyLocal || external;
  const usesLocal = port.internalPolicyLocal || (port.externalPolicyLocal && external);
  const cluster = usesCluster ? clusterEndpoints(endpoints, node) : undefined;
  const local = usesLocal ? firstTier(endpoints.filter((endpoint) => endpoint.local)) : undefined;
  const hasAny = usesLocal ? endpoints.some(isUsable) : (cluster ?? []).length > 0;
  return { cluster, local, reachable: union(endpoints, cluster ?? [], local ?? []), hasAny };
}

function clusterEndpoints(endpoints: readonly Endpoint[], node: NodePlace): readonly Endpoint[] {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  return ready.length > 0 ? hintedFor(ready, node) : firstTier(endpoints);
}

/** The ready ones; without any, those that serve while they terminate. */
function firstTier(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  return ready.length > 0 ? ready : endpoints.filter(servesWhileTerminating);
}

/** Hints count only when every ready endpoint has one and at least one of them is for this node: node first, then zone. */
function hintedFor(ready: readonly Endpoint[], node: NodePlace): readonly Endpoint[] {
  const forNode = ready.filter(({ nodeHints }) => nodeHints.includes(node.name));
  if (forNode.length > 0 && ready.every(({ nodeHints }) => nodeHints.length > 0)) return forNode;
  const { zone } = node;
  if (zone === undefined) return ready;
  const forZone = ready.filter(({ zoneHints }) => zoneHints.includes(zone));
  return forZone.length > 0 && ready.every(({ zoneHints }) => zoneHints.length > 0) ? forZone : ready;
}

function isUsable(endpoint: Endpoint): boolean {
  return endpoint.ready || servesWhileTerminating(endpoint);
}

function servesWhileTerminating(endpoint: Endpoint): boolean {
  return endpoint.serving && endpoint.terminating;
}

function union(
  all: readonly Endpoint[],
  cluster: readonly Endpoint[],
  local: readonly Endpoint[],
): readonly Endpoint[] {
  if (local.length === 0) return cluster;
  const chosen = new Set([...cluster, ...local].map(endpointKey));
  return all.filter((endpoint) => chosen.has(endpointKey(endpoint)));
}
