import type { Desired } from '../desired/desired.ts';
import { meanwhile } from '../desired/rule-inputs.ts';
import { wantedTables } from '../desired/rules.ts';
import type { ProxySettings } from '../desired/settings.ts';
import type { Touched } from '../desired/touched.ts';
import { wantedWithoutSets } from '../kernel/iptables/diff.ts';
import type { WantedTables } from '../kernel/iptables/state.ts';
import type { Draining } from '../kernel/ipvs/diff.ts';
import { type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import { succeed } from '../model/result.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { checkPlan, type Flaw } from '../plan/check-plan.ts';
import type { StaysBound } from '../plan/closing.ts';
import { type Found, findRefused, makesNoSet, refusedSteps, stepsToTry, type TriedStep } from '../plan/find-refused.ts';
import { frozenServers, frozenUnseen } from '../plan/frozen-servers.ts';
import { independentParts } from '../plan/independent-parts.ts';
import { narrow } from '../plan/narrow.ts';
import type { OwnershipInputs, Remembered } from '../plan/ownership.ts';
import { type BlockedSet, type Plan, planSync } from '../plan/plan-sync.ts';
import { describeRefused, type Refused, type Said } from '../plan/refused.ts';
import { withRefusals } from '../plan/refusing-rules.ts';
import { renderPlanPart } from '../plan/scripts.ts';
import { type Standing, withoutRefused } from '../plan/without-refused.ts';
import type { KernelPort, ScriptRun, SyncError } from './ports.ts';

/** A family's wanted state, and what of it is to be programmed how. */
export interface ProgramInputs {
  readonly desired: Desired;
  readonly remembered: Remembered;
  readonly settings: ProxySettings;
  /** What the kernel is known not to take, or not to let go of, and is not tried. */
  readonly heldBack: readonly Refused[];
  readonly scope: Touched | 'everything';
  /** The kernel was read for this pass. */
  readonly isFresh: boolean;
  readonly draining: Draining;
  readonly closing: Closing;
  /** Virtual servers that passes have made, or were about to make, since the last one that came to its end. */
  readonly halfMade: Set<VirtualServerKey>;
  readonly kernel: KernelPort;
  /** Why not all of the kernel could be read for this pass. */
  readonly unreadable: SyncError | undefined;
}

/** Which addresses outlive their virtual servers. */
export interface Closing {
  readonly stays: StaysBound;
  /** Hears of them before anything is done, as a plan that is stopped half-way is made anew from what it has left. */
  readonly begin: (addresses: ReadonlySet<IpAddress>) => void;
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

/** Where a pass of a family stands between two attempts. */
interface Attempt {
  readonly scope: Touched | 'everything';
  readonly isFresh: boolean;
  readonly leftOut: readonly Said[];
}

/** One for everything that may be refused: what opens and what closes in sets, what is added and what goes of each tool; and some more. One for each set comes on top. */
const ATTEMPTS = 12;

/**
 * One transaction: the plan is checked as a whole before the kernel is touched, and run in its order, of which every part is safe to stop
 * after. When a tool refuses something, the kernel is read again, what it does not take is left out, and all else is done: one attempt finds
 * all that a part was refused. When a tool fails as a whole, or goes on refusing, or the kernel cannot be read, what does not need it is
 * done: endpoints of virtual servers that stand. The rest stays as it was.
 */
export async function programFamily(inputs: ProgramInputs): Promise<Programmed> {
  const first: Attempt = { scope: inputs.scope, isFresh: inputs.isFresh, leftOut: [] };
  if (inputs.unreadable) return doIndependent(inputs, first, undone(first, inputs.unreadable, undefined));
  let tried = await tryOnce(inputs, first);
  for (let count = 2; 'attempt' in tried && count <= ATTEMPTS + refusedSetsIn(tried.attempt); count += 1) {
    tried = await tryOnce(inputs, tried.attempt);
  }
  return 'attempt' in tried ? doIndependent(inputs, tried.attempt, tried.otherwise) : tried;
}

/** There are few of them, and each is found by itself; so are those whose stand-in does not take an entry. */
function refusedSetsIn({ leftOut }: Attempt): number {
  const sets = leftOut.flatMap(({ refused }) => {
    if (refused.kind === 'set-entry') return refused.set;
    return refused.kind === 'set' ? describeRefused(refused) : [];
  });
  return new Set(sets).size;
}

/** What an attempt came to; or what to do next, and what it came to if that is not done. */
type Tried = Programmed | { readonly attempt: Attempt; readonly otherwise: Failed };
type Failed = Programmed & { readonly error: SyncError };

async function tryOnce(inputs: ProgramInputs, attempt: Attempt): Promise<Tried> {
  const { kernel, desired } = inputs;
  const { family } = desired.kernel;
  const observed = kernel.known(family);
  if (!observed.ok) return doIndependent(inputs, attempt, undone(attempt, observed.error, undefined));
  const plan = planFamily(inputs, observed.value, attempt);
  const flaws = [...plan.blockedSets.map(flawOfBlocked), ...checkPlan(plan)];
  const fatal = flaws.find(({ of }) => of === undefined);
  if (fatal) {
    const obstacle = { during: CHECKING, message: fatal.message };
    return doIndependent(inputs, attempt, undone(attempt, obstacle, plan));
  }
  if (flaws.length > 0) return withoutFlaws(attempt, flaws, plan);
  inputs.closing.begin(plan.closing);
  for (const key of serversMadeBy(plan)) inputs.halfMade.add(key);
  const ran = await kernel.run([family], plan.parts.map(renderPlanPart));
  if (ran.ok) {
    kernel.settle(plan.after, attempt.scope);
    inputs.halfMade.clear();
    const { scope, leftOut } = attempt;
    return { applied: true, plan, scope, runs: ran.value, error: undefined, refused: leftOut };
  }
  return afterFailure(inputs, attempt, plan, ran.error);
}

function serversMadeBy({ parts }: Plan): readonly VirtualServerKey[] {
  const steps = parts.flatMap((part) => (part.tool === 'ipvs' ? part.steps : []));
  return steps.flatMap(({ kind, server }) => (kind === 'add-virtual-server' ? [virtualServerKey(server)] : []));
}

function withoutFlaws(attempt: Attempt, flaws: readonly Flaw[], plan: Plan): Tried {
  const said = flaws.flatMap(({ of, message }) => (of ? [{ refused: of, message }] : []));
  return {
    attempt: { ...attempt, scope: 'everything', leftOut: [...attempt.leftOut, ...said] },
    otherwise: undone(attempt, { during: CHECKING, message: flaws[0]?.message ?? '' }, plan),
  };
}

const CHECKING = 'checking the plan';

/** Reads what has become of it, and finds what the kernel did not take. */
async function afterFailure(inputs: ProgramInputs, attempt: Attempt, plan: Plan, error: SyncError): Promise<Tried> {
  const otherwise = undone(attempt, error, plan);
  const next = (found: readonly Refused[]): Attempt => ({
    scope: 'everything',
    isFresh: true,
    leftOut: [...attempt.leftOut, ...found.map((refused) => ({ refused, message: error.message }))],
  });
  const found = await findAll(inputs, plan, error);
  if (!found) return doIndependent(inputs, next([]), otherwise);
  const isStale = error.refusedBy !== undefined && !attempt.isFresh;
  if (found.refused.length > 0 || found.isDone || isStale) return { attempt: next(found.refused), otherwise };
  return doIndependent(inputs, next([]), otherwise);
}

/** `undefined` when the kernel cannot be read, or the tool does not work any more. */
async function findAll({ kernel, desired }: ProgramInputs, plan: Plan, error: SyncError): Promise<Found | undefined> {
  const { family } = desired.kernel;
  const read = async () => {
    const refreshed = await kernel.refresh([family]);
    const observed = refreshed.ok ? kernel.known(family) : refreshed;
    return observed.ok ? observed.value : undefined;
  };
  const observed = await read();
  if (!observed || error.refusedBy === undefined) return observed && { refused: [], isDone: false };
  if (error.refusedBy !== 'ipset') return findRefused(plan, error, observed);
  const { refused, others } = stepsToTry(plan, error, observed);
  if (others.length === 0) return foundAmong(refused, observed);
  const script = renderPlanPart({ tool: 'ipset', steps: [...refused, ...others].map(({ step }) => step) });
  const ran = await kernel.run([family], [{ ...script, goesOn: true }]);
  const after = await read();
  return after && foundAmong(ran.ok ? [...refused, ...others] : refused, after);
}

function foundAmong(tried: readonly TriedStep[], observed: ObservedState): Found {
  if (makesNoSet(tried, observed)) return { refused: [], isDone: false };
  const refused = refusedSteps(tried, observed);
  return { refused, isDone: tried.length > 0 && refused.length === 0 };
}

/** What can be done although the rest cannot; it stays a failure. Where sets or rules cannot be read, virtual servers are. */
async function doIndependent(inputs: ProgramInputs, attempt: Attempt, failed: Failed): Promise<Programmed> {
  const { kernel, desired, draining, halfMade } = inputs;
  const { family } = desired.kernel;
  const known = kernel.known(family);
  const servers = known.ok ? succeed(known.value.ipvs) : await kernel.readServers(family);
  if (!servers.ok) return failed;
  const standing: Standing = known.ok ? known.value : { ...NOTHING_KNOWN, ipvs: servers.value };
  const reduced = withoutRefused(desired.kernel, allLeftOut(inputs, attempt), standing).desired;
  const isFrozen = known.ok ? frozenServers(desired.kernel, known.value) : frozenUnseen(desired.kernel, halfMade);
  const parts = independentParts(reduced, servers.value, isFrozen, draining);
  const ran = await kernel.run([family], parts.map(renderPlanPart));
  if (ran.ok) return { ...failed, runs: ran.value };
  const { error } = failed;
  return { ...failed, error: { ...error, message: `${error.message}; ${ran.error.during}: ${ran.error.message}` } };
}

const NOTHING_KNOWN: Pick<Standing, 'sets' | 'dummy'> = {
  sets: new Map(),
  dummy: { exists: false, addresses: new Set() },
};

function undone({ scope, leftOut }: Attempt, error: SyncError, plan: Plan | undefined): Failed {
  return { applied: false, runs: [], plan, scope, refused: leftOut, error };
}

function allLeftOut({ heldBack }: ProgramInputs, { leftOut }: Attempt): readonly Refused[] {
  return [...heldBack, ...leftOut.map(({ refused }) => refused)];
}

function meanwhileTables({ desired }: ProgramInputs, observed: ObservedState): WantedTables {
  return wantedTables(meanwhile(desired.rules, observed.sets));
}

/** Only what is touched is compared, unless the scope is everything. */
function planFamily(inputs: ProgramInputs, observed: ObservedState, attempt: Attempt): Plan {
  const { desired, remembered, settings, draining, closing } = inputs;
  const { scope } = attempt;
  const ownership: OwnershipInputs = {
    ...settings,
    ownAddresses: desired.node.ownAddresses,
    wanted: remembered,
  };
  const options = { draining, staysBound: closing.stays };
  if (scope !== 'everything') {
    const part = narrow({ desired: desired.kernel, observed }, scope);
    const rules = scope.rules ? { meanwhile: meanwhileTables(inputs, observed) } : {};
    return planSync(part.desired, part.observed, ownership, { ...options, ...rules });
  }
  const {
    desired: reduced,
    lackingSets,
    servedInVain,
    ...left
  } = withoutRefused(desired.kernel, allLeftOut(inputs, attempt), observed);
  const usable = wantedWithoutSets(meanwhileTables(inputs, observed), lackingSets);
  const meanwhile = withRefusals(usable, servedInVain, observed.family, observed.tables);
  return planSync(reduced, observed, ownership, { ...options, meanwhile, ...left });
}

function flawOfBlocked({ name, table, chain }: BlockedSet): Flaw {
  return {
    message: `set ${name} has another type and is named by a rule of chain ${chain} in table ${table}; take that rule out`,
    of: { kind: 'set', set: name },
  };
}
