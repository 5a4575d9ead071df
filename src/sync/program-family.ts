import type { Desired } from '../desired/desired.ts';
import type { DesiredState } from '../desired/desired-state.ts';
import { meanwhile } from '../desired/rule-inputs.ts';
import { wantedTables } from '../desired/rules.ts';
import type { ProxySettings } from '../desired/settings.ts';
import type { Touched } from '../desired/touched.ts';
import type { Draining } from '../kernel/ipvs/diff.ts';
import type { ObservedState } from '../kernel/state.ts';
import { checkPlan, type Flaw } from '../plan/check-plan.ts';
import { independentParts } from '../plan/independent-parts.ts';
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
  /** What the plan was about in the end: after a failure everything is read and compared. */
  readonly scope: Touched | 'everything';
  readonly refused: readonly Said[];
}

export interface Said {
  readonly refused: Refused;
  /** What the tool said, or what is wrong with it. */
  readonly message: string;
}

/** Where a pass of a family stands between two attempts. */
interface Attempt {
  readonly scope: Touched | 'everything';
  readonly isFresh: boolean;
  readonly leftOut: readonly Said[];
}

/** Each one more finds what the one before was refused. What is still refused after the last one waits for another pass. */
const ATTEMPTS = 6;

/**
 * One transaction: the plan is checked as a whole before the kernel is touched, and run in its order, of which every part is safe to stop
 * after. When a tool refuses something, the kernel is read again, what it does not take is left out, and all else is done. When a tool
 * fails as a whole, or goes on refusing, what does not need it is done: endpoints of virtual servers that stand. The rest stays as it was.
 */
export async function programFamily(inputs: ProgramInputs): Promise<Programmed> {
  let tried = await tryOnce(inputs, { scope: inputs.scope, isFresh: inputs.isFresh, leftOut: [] });
  for (let count = 2; count <= ATTEMPTS && 'attempt' in tried; count += 1) {
    tried = await tryOnce(inputs, tried.attempt);
  }
  return 'attempt' in tried ? doIndependent(inputs, tried.attempt, tried.otherwise) : tried;
}

/** What an attempt came to; or what to do next, and what it came to if that is not done. */
type Tried = Programmed | { readonly attempt: Attempt; readonly otherwise: Failed };
type Failed = Programmed & { readonly error: SyncError };

async function tryOnce(inputs: ProgramInputs, attempt: Attempt): Promise<Tried> {
  const { kernel, desired } = inputs;
  const { family } = desired.kernel;
  const observed = kernel.known(family);
  if (!observed.ok) return undone(attempt, observed.error, undefined);
  const plan = planFamily(inputs, observed.value, attempt);
  const [blocked] = plan.blockedSets;
  if (blocked) return undone(attempt, describeBlocked(blocked), plan);
  const flaws = checkPlan(plan);
  if (flaws.length > 0) return withoutFlaws(attempt, flaws, plan);
  const ran = await kernel.run([family], plan.parts.map(renderPlanPart));
  if (ran.ok) {
    kernel.settle(plan.after, attempt.scope);
    const { scope, leftOut } = attempt;
    return { applied: true, plan, scope, runs: ran.value, error: undefined, refused: leftOut };
  }
  return afterFailure(inputs, attempt, plan, ran.error);
}

function withoutFlaws(attempt: Attempt, flaws: readonly Flaw[], plan: Plan): Tried {
  const said = flaws.flatMap(({ of, message }) => (of ? [{ refused: of, message }] : []));
  const [fatal] = flaws.filter(({ of }) => of === undefined);
  const error: SyncError = { during: 'checking the plan', message: (fatal ?? flaws[0])?.message ?? '' };
  const otherwise = undone(attempt, error, plan);
  if (fatal) return otherwise;
  return { attempt: { ...attempt, scope: 'everything', leftOut: [...attempt.leftOut, ...said] }, otherwise };
}

/** Reads what has become of it, and finds what the kernel did not take. */
async function afterFailure(inputs: ProgramInputs, attempt: Attempt, plan: Plan, error: SyncError): Promise<Tried> {
  const { kernel, desired } = inputs;
  const { family } = desired.kernel;
  const otherwise = undone(attempt, error, plan);
  const read = await kernel.refresh([family]);
  const observed = read.ok ? kernel.known(family) : read;
  if (!observed.ok) return otherwise;
  const found = findRefused(plan, error, observed.value).map((refused) => ({ refused, message: error.message }));
  const next: Attempt = { scope: 'everything', isFresh: true, leftOut: [...attempt.leftOut, ...found] };
  const isStale = error.refusedBy !== undefined && !attempt.isFresh;
  if (found.length > 0 || isStale) return { attempt: next, otherwise };
  return doIndependent(inputs, next, otherwise);
}

/** What can be done although the rest cannot; it stays a failure. */
async function doIndependent(inputs: ProgramInputs, attempt: Attempt, failed: Failed): Promise<Programmed> {
  const { kernel, desired } = inputs;
  const { family } = desired.kernel;
  const observed = kernel.known(family);
  if (!observed.ok) return failed;
  const parts = independentParts(planFamily(inputs, observed.value, attempt), desired.kernel, observed.value);
  const ran = await kernel.run([family], parts.map(renderPlanPart));
  if (ran.ok) return { ...failed, runs: ran.value };
  const { error } = failed;
  return { ...failed, error: { ...error, message: `${error.message}; ${ran.error.during}: ${ran.error.message}` } };
}

function undone({ scope, leftOut }: Attempt, error: SyncError, plan: Plan | undefined): Failed {
  return { applied: false, runs: [], plan, scope, refused: leftOut, error };
}

/** Only what is touched is compared, unless the scope is everything. */
function planFamily(
  { desired, wanted, settings, heldBack, draining }: ProgramInputs,
  observed: ObservedState,
  { scope, leftOut }: Attempt,
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
  const without = [...heldBack, ...leftOut.map(({ refused }) => refused)];
  return planSync(withoutRefused(desired.kernel, without, observed.ipvs), observed, ownership, options);
}

function describeBlocked({ name, table, chain }: BlockedSet): SyncError {
  return {
    during: 'comparing the sets',
    message: `set ${name} has another type and is named by a rule of chain ${chain} in table ${table}; take that rule out`,
  };
}
