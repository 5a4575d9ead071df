import { type Draining, diffIpvs, type IpvsStep } from '../kernel/ipvs/diff.ts';
import type { IpvsState, VirtualServer, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState } from '../kernel/state.ts';
import { checkIpvsStep } from './check-plan.ts';
import type { IsFrozen } from './frozen-servers.ts';
import type { PlanPart } from './plan-sync.ts';
import { leftAsItIs } from './refused-servers.ts';

/**
 * What may be done of a family whatever else does not work: new endpoints of virtual servers that stand and stay, and the end of old ones.
 * Their sets, rules and addresses are there already, so that rollouts go on. Frozen ones get no new endpoints; what is wrong is left out.
 */
export function independentParts(
  { family, ipvs: desired }: Pick<KernelState, 'family' | 'ipvs'>,
  observed: IpvsState,
  isFrozen: IsFrozen,
  draining: Draining,
): readonly PlanPart[] {
  const [wanted, standing] = [new Map<VirtualServerKey, VirtualServer>(), new Map<VirtualServerKey, VirtualServer>()];
  for (const [key, server] of desired) {
    const present = observed.get(key);
    if (!present) continue;
    wanted.set(key, leftAsItIs(server, present, [], isFrozen(server, present)));
    standing.set(key, present);
  }
  const { additions, removals } = diffIpvs(standing, wanted, () => 'foreign', draining);
  const isPossible = (step: IpvsStep) => checkIpvsStep(step, family).length === 0;
  const steps = [...additions, ...removals].filter(isPossible);
  return steps.length === 0 ? [] : [{ tool: 'ipvs', steps }];
}
