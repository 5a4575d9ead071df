import { computeDesired, type Desired } from '../desired/compute-desired.ts';
import type { ProxySettings } from '../desired/settings.ts';
import type { SetConflict } from '../kernel/ipset/diff.ts';
import type { NodeView } from '../model/node-view.ts';
import type { Family } from '../net/family.ts';
import { type Plan, planSync } from '../plan/plan-sync.ts';
import { renderPlanPart } from '../plan/scripts.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { KernelPort, ScriptRun, SyncError } from './ports.ts';

/** One family between two passes. */
export interface FamilyState {
  readonly family: Family;
  readonly tracker: Tracker;
  /** What the last pass wanted; `undefined` before the first. */
  readonly desired: Desired | undefined;
}

export interface FamilyOutcome {
  readonly state: FamilyState;
  /** What stands in the way of the wanted state; the pass has to be tried again. */
  readonly error: SyncError | undefined;
  readonly changedServices: number;
  readonly runs: readonly ScriptRun[];
  /** Real servers without new connections that wait for their last one to end. */
  readonly draining: number;
  /** `undefined` when it did not come to a plan. */
  readonly plan: Plan | undefined;
}

/** One pass of one family: what is wanted, what is there, what has to be done, and doing it. */
export async function syncFamily(
  state: FamilyState,
  node: NodeView,
  settings: ProxySettings,
  kernel: KernelPort,
): Promise<FamilyOutcome> {
  const tracked = state.tracker.takePendingChanges();
  const desired = computeDesired(tracked, node, settings, state.desired);
  const next = { state: { ...state, desired }, changedServices: tracked.changed.size };
  const observed = await kernel.read(state.family);
  if (!observed.ok) return { ...next, ...NOTHING_DONE, error: observed.error };
  const plan = planSync(desired.kernel, observed.value, { ...settings, previous: state.desired?.kernel });
  const [conflict] = plan.conflicts;
  if (conflict) return { ...next, ...NOTHING_DONE, plan, error: describeConflict(conflict) };
  const ran = await kernel.run(plan.parts.map(renderPlanPart));
  if (!ran.ok) return { ...next, ...NOTHING_DONE, plan, error: ran.error };
  kernel.settle(plan.after);
  const draining = plan.kept.filter(({ why }) => why === 'draining').length;
  return { ...next, plan, draining, runs: ran.value, error: undefined };
}

const NOTHING_DONE = { runs: [], draining: 0, plan: undefined } as const;

function describeConflict({ wanted, present }: SetConflict): SyncError {
  const kind = (set: { type: string; family: string | undefined }) => [set.type, set.family].filter(Boolean).join(' ');
  return {
    during: 'comparing the sets',
    message: `ipset ${wanted.name} exists as ${kind(present)} and has to be ${kind(wanted)}; destroy it: ipset destroy ${wanted.name}`,
  };
}
