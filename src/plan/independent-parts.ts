import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { Plan, PlanPart } from './plan-sync.ts';

/**
 * What of a plan may be done without the rest: new endpoints of virtual servers that stand and stay, and the end of old ones. Their sets,
 * rules and addresses are there already, so that rollouts go on while another tool does not work.
 */
export function independentParts(
  plan: Plan,
  desired: Pick<KernelState, 'ipvs'>,
  observed: Pick<ObservedState, 'ipvs'>,
): readonly PlanPart[] {
  const stands = (step: IpvsStep) => {
    const key = virtualServerKey(step.server);
    return desired.ipvs.has(key) && observed.ipvs.has(key);
  };
  const steps = plan.parts.flatMap((part) => (part.tool === 'ipvs' ? part.steps.filter(stands) : []));
  return steps.length === 0 ? [] : [{ tool: 'ipvs', steps }];
}
