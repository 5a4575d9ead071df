import { type Endpoint, endpointKey } from '../model/endpoint.ts';
import { isExternallyReachable, type ServicePort } from '../model/service-port.ts';
import { isUsable, type NodePlace, type Selection, selectFromCluster, selectLocal } from './select-endpoints.ts';

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

/** Both lists with what they were chosen by; `undefined` as above. */
export interface Selections {
  readonly cluster: Selection | undefined;
  readonly local: Selection | undefined;
}

/**
 * Chooses by readiness, traffic policy and hints. Where nothing is ready, endpoints that serve while they terminate stand in, and
 * hints are passed over; the cluster and the local list decide that each for itself.
 *
 * Source: kubernetes/kubernetes pkg/proxy/topology.go
 */
export function chooseEndpoints(endpoints: readonly Endpoint[], port: ServicePort, node: NodePlace): ChosenEndpoints {
  const selections = selectEndpoints(endpoints, port, node);
  const [cluster, local] = [selections.cluster?.chosen, selections.local?.chosen];
  const hasAny = local ? endpoints.some(isUsable) : (cluster ?? []).length > 0;
  return { cluster, local, reachable: union(endpoints, cluster ?? [], local ?? []), hasAny };
}

/** The same with the reasons, which `ruling` tells of each endpoint. */
export function selectEndpoints(endpoints: readonly Endpoint[], port: ServicePort, node: NodePlace): Selections {
  const external = isExternallyReachable(port);
  const usesCluster = !port.internalPolicyLocal || external;
  const usesLocal = port.internalPolicyLocal || (port.externalPolicyLocal && external);
  return {
    cluster: usesCluster ? selectFromCluster(endpoints, node) : undefined,
    local: usesLocal ? selectLocal(endpoints) : undefined,
  };
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
