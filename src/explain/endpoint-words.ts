import { listFor } from '../desired/real-servers.ts';
import type { FrontPart, ServicePart } from '../desired/service-part.ts';
import type { Behaviour } from '../desired/settings.ts';
import type { RealServerKey } from '../kernel/ipvs/state.ts';
import { endpointKey } from '../model/endpoint.ts';
import { selectEndpoints } from '../topology/choose-endpoints.ts';
import { type NodePlace, type Ruling, ruling, type Selection } from '../topology/select-endpoints.ts';

/** Why an endpoint is not chosen, for people. */
export const RULINGS: Readonly<Record<Ruling, string>> = {
  chosen: 'chosen',
  'other-node': 'on another node, and the policy is Local',
  'not-ready': 'not ready',
  terminating: 'terminating, while others are ready',
  terminated: 'terminating, and serves no more',
  'hint-for-other-node': 'hinted for another node, while others are for this one',
  'hint-for-other-zone': 'hinted for another zone, while others are for this one',
};

/** The list behind a frontend; `undefined` when the port never needs it. */
export function selectionBehind(
  { port, endpoints }: Pick<ServicePart, 'port' | 'endpoints'>,
  front: Pick<FrontPart, 'kind'>,
  place: NodePlace,
  behaviour: Behaviour,
): Selection | undefined {
  const selections = selectEndpoints(endpoints, port, place);
  const policyLocal = front.kind === 'cluster' ? port.internalPolicyLocal : port.externalPolicyLocal;
  const local = selections.local?.chosen;
  return selections[listFor({ kind: front.kind, policyLocal }, { local }, behaviour)];
}

/** Why a real server of the kernel is not wanted behind a frontend. */
export function whyUnwanted(
  part: Pick<ServicePart, 'port' | 'endpoints'>,
  front: Pick<FrontPart, 'kind'>,
  real: RealServerKey,
  { place, behaviour }: { readonly place: NodePlace; readonly behaviour: Behaviour },
): string {
  const endpoint = part.endpoints.find((each) => endpointKey(each) === (real as string));
  if (!endpoint) return 'no endpoint of its Service';
  const selection = selectionBehind(part, front, place, behaviour);
  return selection ? RULINGS[ruling(selection, endpoint)] : 'no traffic of its Service may go there';
}
