import type { Desired } from '../desired/desired.ts';
import type { DesiredState } from '../desired/desired-state.ts';
import { meanwhile } from '../desired/rule-inputs.ts';
import { wantedTables } from '../desired/rules.ts';
import type { ProxySettings } from '../desired/settings.ts';
import type { Touched } from '../desired/touched.ts';
import type { Draining } from '../kernel/ipvs/diff.ts';
import type { ObservedState } from '../kernel/state.ts';
import { narrow } from '../plan/narrow.ts';
import type { OwnershipInputs } from '../plan/ownership.ts';
import { type BlockedSet, type Plan, planSync } from '../plan/plan-sync.ts';
import { findRefused, type Refused, withoutRefused } from '../plan/refused.ts';
import { renderPlanPart } from '../plan/scripts.ts';
import type { KernelPort, ScriptRun, SyncError } from './ports.ts';

/** A family's wanted state, and what of it is to be programmed how. */
export interface ProgramInputs {
  readonly desired: Desired;
  readonly wanted: Pick<DesiredState, 'touched' | 'settledRules'>;
  readonly settings: ProxySettings;
  /** What the kernel is known not to take, and is not tried. */
  readonly heldBack: readonly Refused[];
  readonly scope: Touched | 'everything';
  /** The kernel was read for this pass. */
  readonly isFresh: boolean;
  readonly draining: Draining;
  readonly kernel: KernelPort;
}

export interface Programmed {
  /** True when the scripts have run, whatever they were refused. */
  readonly applied: boolean;
  readonly error: SyncError | undefined;
  readonly runs: readonly ScriptRun[];
  /** `undefined` when it did not come to one. */
  readonly plan: Plan | undefined;
  /** What the plan was about in the end: after a refusal everything is read and compared. */
  readonly scope: Touched | 'everything';
  readonly refused: readonly Said[];
}

export interface Said {
  readonly refused: Refused;
  /** What the tool said. */
  readonly message: string;
}

/** The kernel may have become another one behind our back, and two tools may refuse something; then the rest is done without it. */
const ATTEMPTS = 4;

/** Plans and runs. What the kernel refuses is found by reading it again and left out, and the rest is done all the same. */
export async function programFamily(inputs: ProgramInputs): Promise<Programmed> {
  const { kernel, desired } = inputs;
  const { family } = desired.kernel;
  let scope = inputs.scope;
  let failed: { readonly plan: Plan; readonly error: SyncError; readonly by: 'ipvs' | 'address' } | undefined;
  let wasRead = scope === 'everything' && inputs.isFresh;
  const refused: Said[] = [];
  const undone = (error: SyncError, plan?: Plan): Programmed => ({
    applied: false,
    runs: [],
    plan,
    scope,
    refused,
    error,
  });
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const observed = kernel.known(family);
    if (!observed.ok) return undone(observed.error, failed?.plan);
    if (failed) {
      const { plan, by, error } = failed;
      const found = findRefused(plan, by, observed.value);
      if (found.length === 0 && wasRead) return undone(error, plan);
      wasRead = true;
      refused.push(...found.map((each) => ({ refused: each, message: error.message })));
    }
    const plan = planFamily(inputs, observed.value, scope, refused);
    const [blocked] = plan.blockedSets;
    if (blocked) return undone(describeBlocked(blocked), plan);
    const ran = await kernel.run([family], plan.parts.map(renderPlanPart));
    if (ran.ok) {
      kernel.settle(plan.after, scope);
      return { applied: true, plan, scope, runs: ran.value, error: undefined, refused };
    }
    if (!ran.error.refusedBy) return undone(ran.error, plan);
    failed = { plan, error: ran.error, by: ran.error.refusedBy };
    scope = 'everything';
    await kernel.refresh([family]);
  }
  return undone(failed?.error ?? UNKNOWN, failed?.plan);
}

const UNKNOWN: SyncError = { during: 'programming', message: 'nothing was tried' };

/** Only what is touched is compared, unless the scope is everything. */
function planFamily(
  { desired, wanted, settings, heldBack, draining }: ProgramInputs,
  observed: ObservedState,
  scope: Touched | 'everything',
  refused: readonly Said[],
): Plan {
  const ownership: OwnershipInputs = {
    ...settings,
    ownAddresses: desired.node.ownAddresses,
    wanted: wanted.touched,
  };
  const options = {
    draining,
    ...(scope === 'everything' || scope.rules
      ? { meanwhile: wantedTables(meanwhile(desired.rules, wanted.settledRules, observed.sets)) }
      : {}),
  };
  if (scope !== 'everything') {
    const part = narrow({ desired: desired.kernel, observed }, scope);
    return planSync(part.desired, part.observed, ownership, options);
  }
  const leftOut = [...heldBack, ...refused.map((each) => each.refused)];
  return planSync(withoutRefused(desired.kernel, leftOut), observed, ownership, options);
}

function describeBlocked({ name, table, chain }: BlockedSet): SyncError {
  return {
    during: 'comparing the sets',
    message: `set ${name} has another type and is named by a rule of chain ${chain} in table ${table}; take that rule out`,
  };
}
