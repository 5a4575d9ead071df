import type { RealServer } from '../kernel/ipvs/state.ts';
import { type Endpoint, endpointKey } from '../model/endpoint.ts';
import type { ChosenEndpoints } from '../topology/choose-endpoints.ts';
import type { Frontend } from './frontends.ts';
import type { ConditionWeights, ProxySettings } from './settings.ts';

/**
 * The servers behind one frontend. Under policy Local without a usable local endpoint all cluster endpoints stand in, for Pods and the
 * node; at the cluster address nobody stands in, unless kube-proxy is followed, whose node ports and external addresses bring that about.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go
 */
export function realServersFor(
  front: Pick<Frontend, 'kind' | 'policyLocal'>,
  chosen: ChosenEndpoints,
  all: readonly Endpoint[],
  { behaviour, weights }: Pick<ProxySettings, 'behaviour' | 'weights'>,
): readonly RealServer[] {
  const endpoints = endpointsFor(front, chosen, behaviour);
  if (!weights) return endpoints.map((endpoint) => realServer(endpoint, 1));
  const isIncluded = new Set(endpoints.map(endpointKey));
  const waiting = all.filter((endpoint) => isWaiting(endpoint, front) && !isIncluded.has(endpointKey(endpoint)));
  return [
    ...endpoints.map((endpoint) => realServer(endpoint, weightOf(endpoint, weights))),
    ...waiting.map((endpoint) => realServer(endpoint, weights.notReady)),
  ];
}

function endpointsFor(
  front: Pick<Frontend, 'kind' | 'policyLocal'>,
  chosen: ChosenEndpoints,
  behaviour: ProxySettings['behaviour'],
): readonly Endpoint[] {
  return (listFor(front, chosen, behaviour) === 'local' ? chosen.local : chosen.cluster) ?? [];
}

/** Which of the two lists of endpoints stands behind a frontend. */
export function listFor(
  { kind, policyLocal }: Pick<Frontend, 'kind' | 'policyLocal'>,
  { local = [] }: Pick<ChosenEndpoints, 'local'>,
  behaviour: ProxySettings['behaviour'],
): 'cluster' | 'local' {
  if (!policyLocal) return 'cluster';
  return local.length > 0 || (kind === 'cluster' && behaviour === 'documented') ? 'local' : 'cluster';
}

/** One that was chosen although it is not ready is the best there is. */
function weightOf({ ready, serving }: Endpoint, weights: ConditionWeights): number {
  return ready && !serving ? weights.readyNotServing : weights.ready;
}

/** Not ready yet, or for the moment. One that terminates does not come back. */
function isWaiting({ ready, terminating, local }: Endpoint, { policyLocal }: Pick<Frontend, 'policyLocal'>): boolean {
  return !ready && !terminating && (local || !policyLocal);
}

function realServer({ address, port }: Endpoint, weight: number): RealServer {
  return { address, port, forwarding: 'masquerade', weight };
}
