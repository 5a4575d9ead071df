import { computeDesired, type Desired } from '../desired/compute-desired.ts';
import { meanwhile } from '../desired/rule-inputs.ts';
import { wantedTables } from '../desired/rules.ts';
import type { ProxySettings } from '../desired/settings.ts';
import { udpFlowTargets } from '../desired/udp-flows.ts';
import type { IpsetState } from '../kernel/ipset/state.ts';
import type { WantedTables } from '../kernel/iptables/state.ts';
import type { KernelState } from '../kernel/state.ts';
import type { ServiceName } from '../model/names.ts';
import type { NodeView } from '../model/node-view.ts';
import type { Family } from '../net/family.ts';
import type { OwnershipInputs } from '../plan/ownership.ts';
import { type BlockedSet, type Plan, planSync } from '../plan/plan-sync.ts';
import { findRefused, type Refused, withoutRefused } from '../plan/refused.ts';
import { renderPlanPart } from '../plan/scripts.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { KernelPort, ScriptRun, SyncError } from './ports.ts';

/** One family between two passes. */
export interface FamilyState {
  readonly family: Family;
  readonly tracker: Tracker;
  /** What the last pass wanted; `undefined` before the first. */
  readonly desired: Desired | undefined;
  /** What was wanted when all stale UDP flows had been ended last; `undefined` before the first time. */
  readonly flowsClearedFor: Desired | undefined;
}

export interface FamilyOutcome {
  readonly state: FamilyState;
  /** What stands in the way of everything; the pass has to be tried again. */
  readonly error: SyncError | undefined;
  /** What the kernel did not take, by the Service that wants it; all else was done. */
  readonly refusals: readonly Refusal[];
  /** What is known to be refused, be it by this pass or by one before. */
  readonly refused: readonly Refused[];
  readonly changedServices: number;
  readonly runs: readonly ScriptRun[];
  /** Real servers without new connections that wait for their last one to end. */
  readonly draining: number;
  /** `undefined` when it did not come to a plan. */
  readonly plan: Plan | undefined;
  /** Stale UDP flows that were ended. */
  readonly endedFlows: number;
  /** Why stale UDP flows may be left; it does not make the pass a failed one. */
  readonly flowsError: SyncError | undefined;
}

/** What the kernel did not take in earlier passes, and whose turn it is to be tried again. */
export interface RefusedBefore {
  readonly things: readonly Refused[];
  readonly isTried: (service: ServiceName) => boolean;
}

/** Something that only one Service is to blame for. */
export interface Refusal {
  readonly service: ServiceName;
  readonly refused: Refused;
  /** What the tool said. */
  readonly message: string;
}

/** One pass of one family: what is wanted but for what is held back, what is there, what has to be done, and doing it. */
export async function syncFamily(
  state: FamilyState,
  node: NodeView,
  settings: ProxySettings,
  kernel: KernelPort,
  refusedBefore: RefusedBefore,
): Promise<FamilyOutcome> {
  const tracked = state.tracker.takePendingChanges();
  const desired = computeDesired(tracked, node, settings, state.desired);
  const ownership = { ...settings, ownAddresses: desired.node.ownAddresses, previous: state.desired?.kernel };
  const rulesMeanwhile = (sets: IpsetState) => wantedTables(meanwhile(desired.rules, state.desired?.rules, sets));
  const heldBack = refusedBefore.things.filter((thing) => {
    const wanting = wantedBy(thing, desired);
    return wanting.length > 0 && !wanting.some(refusedBefore.isTried);
  });
  const wanted = withoutRefused(desired.kernel, heldBack);
  const { applied, refused, ...programmed } = await program(wanted, ownership, kernel, rulesMeanwhile);
  const before = state.flowsClearedFor;
  const flows = applied ? await clearStaleFlows(before, desired, kernel) : nothingCleared(before, undefined);
  const { flowsClearedFor, runs, ...cleared } = flows;
  return {
    ...programmed,
    ...cleared,
    refusals: refused.flatMap(({ refused: thing, message }) =>
      wantedBy(thing, desired).map((service) => ({ service, refused: thing, message })),
    ),
    refused: [...heldBack, ...refused.map(({ refused: thing }) => thing)],
    runs: [...programmed.runs, ...runs],
    state: { ...state, desired, flowsClearedFor },
    changedServices: tracked.changed.size,
  };
}

interface Said {
  readonly refused: Refused;
  readonly message: string;
}

type Programmed = Pick<FamilyOutcome, 'error' | 'runs' | 'draining' | 'plan'> & {
  /** True when the scripts have run, whatever they were refused. */
  readonly applied: boolean;
  readonly refused: readonly Said[];
};

/** Each of the two tools that go on after a refusal may refuse something; then the rest is done without it. */
const ATTEMPTS = 3;

/** Reads, plans and runs. What the kernel refuses is left out and the rest is done all the same. */
async function program(
  wanted: KernelState,
  ownership: OwnershipInputs,
  kernel: KernelPort,
  rulesMeanwhile: (observed: IpsetState) => WantedTables,
): Promise<Programmed> {
  let desired = wanted;
  let failed: { readonly plan: Plan; readonly error: SyncError; readonly by: 'ipvs' | 'address' } | undefined;
  const refused: Said[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const observed = await kernel.read(wanted.family);
    if (!observed.ok) return { ...NOTHING_DONE, refused, error: observed.error };
    if (failed) {
      const { plan, by, error } = failed;
      const found = findRefused(plan, by, observed.value);
      if (found.length === 0) return { ...NOTHING_DONE, refused, plan, error };
      refused.push(...found.map((each) => ({ refused: each, message: error.message })));
      desired = withoutRefused(desired, found);
    }
    const plan = planSync(desired, observed.value, ownership, rulesMeanwhile(observed.value.sets));
    const [blocked] = plan.blockedSets;
    if (blocked) return { ...NOTHING_DONE, refused, plan, error: describeBlocked(blocked) };
    const ran = await kernel.run(plan.parts.map(renderPlanPart));
    if (ran.ok) {
      kernel.settle(plan.after);
      const draining = plan.kept.filter(({ why }) => why === 'draining').length;
      return { applied: true, plan, draining, runs: ran.value, error: undefined, refused };
    }
    if (!ran.error.refusedBy) return { ...NOTHING_DONE, refused, plan, error: ran.error };
    failed = { plan, error: ran.error, by: ran.error.refusedBy };
  }
  return { ...NOTHING_DONE, refused, ...(failed ? { plan: failed.plan } : {}), error: failed?.error };
}

/** Services that want a thing: an address may have several, of which any may be to blame. */
function wantedBy(thing: Refused, { owners }: Desired): readonly ServiceName[] {
  if (thing.kind !== 'address') {
    const owner = owners.get(thing.server);
    const isWanted = thing.kind === 'virtual-server' || owner?.front.server.realServers.has(thing.real);
    return owner && isWanted ? [owner.part.port.service] : [];
  }
  const binders = [...owners.values()].filter(({ front }) => front.bind && front.server.address === thing.address);
  return [...new Set(binders.map(({ part }) => part.port.service))];
}

function describeBlocked({ name, table, chain }: BlockedSet): SyncError {
  return {
    during: 'comparing the sets',
    message: `set ${name} has another type and is named by a rule of chain ${chain} in table ${table}; take that rule out`,
  };
}

const NOTHING_DONE = { applied: false, runs: [], draining: 0, plan: undefined } as const;

type Cleared = Pick<FamilyOutcome, 'runs' | 'endedFlows' | 'flowsError'> & Pick<FamilyState, 'flowsClearedFor'>;

/** Ends the flows that have become stale since the last time that was done completely; what is left is looked for in the next pass. */
async function clearStaleFlows(before: Desired | undefined, desired: Desired, kernel: KernelPort): Promise<Cleared> {
  const targets = udpFlowTargets(before, desired);
  if (targets.size === 0) return nothingCleared(desired, undefined);
  const cleared = await kernel.clearStaleFlows(desired.kernel.family, targets);
  if (!cleared.ok) return nothingCleared(before, cleared.error);
  const { runs, flows, more } = cleared.value;
  return { runs, endedFlows: flows, flowsError: undefined, flowsClearedFor: more ? before : desired };
}

function nothingCleared(flowsClearedFor: Desired | undefined, flowsError: SyncError | undefined): Cleared {
  return { runs: [], endedFlows: 0, flowsError, flowsClearedFor };
}
