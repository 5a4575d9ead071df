import { type FlowEndKey, type FlowTargets, flowEndKey } from '../kernel/conntrack/state.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { Desired } from './compute-desired.ts';
import type { ServicePart } from './service-part.ts';

/**
 * Who may answer UDP flows to the frontends of service ports that are not the same parts as in `previous`; empty when there are none. A
 * frontend that is not wanted any more may be answered by its own address only, as a flow that passes by is. Without `previous` every
 * frontend is in it.
 *
 * Source: kubernetes/kubernetes pkg/proxy/conntrack/cleanup.go
 */
export function udpFlowTargets(previous: Desired | undefined, desired: Desired): FlowTargets {
  const touched = touchedFrontends(previous?.parts ?? new Map(), desired.parts);
  const targets = new Map<FlowEndKey, ReadonlySet<FlowEndKey>>([...touched].map((key) => [key, new Set([key])]));
  if (touched.size === 0) return targets;
  for (const part of desired.parts.values()) {
    if (!isUdp(part)) continue;
    const served = part.fronts.filter((front) => desired.owners.get(virtualServerKey(front.server))?.front === front);
    const frontends = served.map(({ server }) => flowEndKey(server)).filter((key) => touched.has(key));
    if (frontends.length === 0) continue;
    const answerers = answerersOf(part);
    for (const key of frontends) targets.set(key, answerers);
  }
  return targets;
}

function touchedFrontends(
  before: ReadonlyMap<ServicePortKey, ServicePart>,
  after: ReadonlyMap<ServicePortKey, ServicePart>,
): ReadonlySet<FlowEndKey> {
  const changed = (parts: typeof before, others: typeof before) =>
    [...parts].flatMap(([key, part]) =>
      isUdp(part) && others.get(key) !== part ? part.fronts.map(({ server }) => flowEndKey(server)) : [],
    );
  return new Set([...changed(before, after), ...changed(after, before)]);
}

function isUdp({ port }: ServicePart): boolean {
  return port.protocol === 'UDP';
}

/** All endpoints that serve or are in use, wherever they are: traffic policies and hints choose for new flows only. */
function answerersOf({ endpoints, fronts }: ServicePart): ReadonlySet<FlowEndKey> {
  const live = endpoints.filter(({ ready, serving }) => ready || serving);
  const inUse = fronts.flatMap(({ server }) => [...server.realServers.values()]);
  return new Set([...live, ...inUse].map(flowEndKey));
}
