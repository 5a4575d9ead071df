import type { DummyStep } from '../kernel/dummy/diff.ts';
import { ownSets } from '../kernel/ipset/definitions.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import { type IpvsStep, sameProperties } from '../kernel/ipvs/diff.ts';
import { realAt } from '../kernel/ipvs/real-servers.ts';
import { realServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import { assertNever } from '../model/assert-never.ts';
import type { Plan } from './plan-sync.ts';
import type { Refused } from './refused.ts';

/** Where a plan met with a refusal. */
export interface Refusal {
  /** Index of the part in the plan. */
  readonly part?: number;
  /** Line of its script at which the tool stopped, from 1; absent for one that goes on. */
  readonly line?: number;
}

/** What the kernel, read again after a part was run, does not show of it. */
export interface Found {
  readonly refused: readonly Refused[];
  /** All of it is done, whatever the tool said. */
  readonly isDone: boolean;
}

/** For a tool that goes on after a line that is refused: whatever it was to do and has not done was refused. */
export function findRefused(plan: Plan, { part: index = 0 }: Refusal, observed: ObservedState): Found {
  const part = plan.parts[index];
  switch (part?.tool) {
    case 'ipvs':
      return found(part.steps.map((step) => ipvsStep(step, observed)));
    case 'address':
      return found(part.steps.map((step) => addressStep(step, observed)));
    default:
      return { refused: [], isDone: false };
  }
}

/** A step of the sets that is to be tried for itself. */
export interface TriedStep {
  readonly step: IpsetStep;
  /** What is refused with it; that is of the set it is for, where the step names the one that stands in for it. */
  readonly thing: SetRefused;
}

type SetRefused = Extract<Refused, { readonly set: string }>;

/** What is to be tried, each for itself. */
export interface ToTry {
  /** The one that was refused; none where it is done meanwhile, or nothing can be done without it. */
  readonly refused: readonly TriedStep[];
  readonly others: readonly TriedStep[];
}

/**
 * For `ipset`, which stops at the first line that is refused: that one, and the steps of its kind that are left to be done. What
 * closes waits until all that opens was tried, and what opens goes after what closes; nothing is swapped, as something may be missing.
 * Without the one that stands in for it, or the swap, a set cannot be exchanged.
 */
export function stepsToTry(plan: Plan, { part: index = 0, line = 0 }: Refusal, observed: ObservedState): ToTry {
  const part = plan.parts[index];
  const steps = part?.tool === 'ipset' ? part.steps : [];
  const refused = steps[line - 1];
  if (!refused) return { refused: [], others: [] };
  const { standIns, closing, opening } = ownSets(plan.family);
  const isEndOfExchange = (step: IpsetStep) => step.kind === 'destroy-set' && standIns.includes(step.name);
  const end = steps.findIndex((step, at) => at >= line - 1 && step.kind === 'swap-sets');
  const start = steps.slice(0, line - 1).findLastIndex(isEndOfExchange) + 1;
  const swap = steps[end];
  const exchanged = swap?.kind === 'swap-sets' ? swap.set.name : undefined;
  if (refused.kind === 'swap-sets') return { refused: [tryOf(refused, plan, { standIns, exchanged })], others: [] };
  const isInTheWay = (step: IpsetStep) =>
    step !== refused &&
    step.kind === 'create-set' &&
    (standIns.includes(step.set.name) || observed.sets.has(step.set.name));
  const tried = steps
    .slice(start, end < 0 ? undefined : end)
    .filter((step) => step.kind === refused.kind && !isSetStepDone(step, observed) && !isInTheWay(step))
    .map((step) => tryOf(step, plan, { standIns, exchanged }));
  const closes = ({ thing }: TriedStep) => closing.has(thing.set);
  const isClosing = 'entry' in refused && closing.has(refused.set.name);
  const opensFirst = refused.kind === 'add-entry' && !isClosing;
  const closesFirst = refused.kind === 'delete-entry' && tried.some(closes);
  const isInTurn = (each: TriedStep) => !(opensFirst && closes(each)) && !(closesFirst && opening.has(each.thing.set));
  const [own, others] = [tried.filter(({ step }) => step === refused), tried.filter(({ step }) => step !== refused)];
  return { refused: own, others: others.filter(isInTurn) };
}

interface Exchange {
  readonly standIns: readonly string[];
  /** The set that is to be exchanged for the one that stands in for it. */
  readonly exchanged: string | undefined;
}

function tryOf(step: IpsetStep, plan: Plan, { standIns, exchanged }: Exchange): TriedStep {
  const meant = (name: string) => (standIns.includes(name) && exchanged) || name;
  switch (step.kind) {
    case 'swap-sets':
      return { step, thing: { kind: 'set', set: step.set.name, change: 'edit' } };
    case 'destroy-set': {
      const isMadeAnew = !standIns.includes(step.name) && plan.after.sets.has(step.name);
      return { step, thing: { kind: 'set', set: step.name, ...(isMadeAnew ? {} : { change: 'deletion' }) } };
    }
    case 'create-set': {
      const { name } = step.set;
      const isStandIn = standIns.includes(name);
      return { step, thing: { kind: 'set', set: meant(name), ...(isStandIn ? { change: 'edit' } : {}) } };
    }
    default: {
      const thing = {
        kind: 'set-entry',
        set: meant(step.set.name),
        entry: step.entry,
      } as const;
      return { step, thing: step.kind === 'delete-entry' ? { ...thing, change: 'deletion' } : thing };
    }
  }
}

/** Which of these are still not done, after each was tried; nobody is refused an entry of a set that is not there. */
export function refusedSteps(tried: readonly TriedStep[], observed: ObservedState): readonly Refused[] {
  const isPossible = (step: IpsetStep) => step.kind !== 'add-entry' || observed.sets.has(step.set.name);
  return tried.filter(({ step }) => !isSetStepDone(step, observed) && isPossible(step)).map(({ thing }) => thing);
}

/** None of several sets that were tried can be made, and none of ours is there: it is the tool that does not work. */
export function makesNoSet(tried: readonly TriedStep[], { family, sets }: ObservedState): boolean {
  return (
    tried.length > 1 &&
    tried.every(({ step }) => step.kind === 'create-set') &&
    !ownSets(family).names.some((name) => sets.has(name))
  );
}

function isSetStepDone(step: IpsetStep, { sets }: ObservedState): boolean {
  switch (step.kind) {
    case 'add-entry':
      return sets.get(step.set.name)?.entries.has(step.entry) ?? false;
    case 'delete-entry':
      return !sets.get(step.set.name)?.entries.has(step.entry);
    case 'destroy-set':
      return !sets.has(step.name);
    case 'create-set':
      return sets.has(step.set.name);
    case 'swap-sets':
      return false;
    default:
      return assertNever(step);
  }
}

/** What became of a step; what it was about is gone where it is not known. */
type Outcome = 'done' | Refused | 'unknown';

function found(outcomes: readonly Outcome[]): Found {
  return {
    refused: outcomes.flatMap((each) => (typeof each === 'string' ? [] : [each])),
    isDone: outcomes.every((each) => each === 'done'),
  };
}

function addressStep(step: DummyStep, { dummy }: ObservedState): Outcome {
  if (step.kind === 'create-interface') return dummy.exists ? 'done' : 'unknown';
  const { address } = step;
  const isBound = dummy.addresses.has(address);
  if (step.kind === 'bind-address') return isBound ? 'done' : { kind: 'address', address };
  return isBound ? { kind: 'address', address, change: 'deletion' } : 'done';
}

function ipvsStep(step: IpvsStep, { ipvs }: ObservedState): Outcome {
  const server = virtualServerKey(step.server);
  const present = ipvs.get(server);
  switch (step.kind) {
    case 'add-virtual-server':
      return present ? 'done' : { kind: 'virtual-server', server };
    case 'delete-virtual-server':
      return present ? { kind: 'virtual-server', server, change: 'deletion' } : 'done';
    case 'edit-virtual-server':
      if (!present) return 'unknown';
      return sameProperties(present, step.server) ? 'done' : { kind: 'virtual-server', server, change: 'edit' };
    default:
      break;
  }
  const real = realServerKey(step.real);
  const there = present && realAt(present.realServers, step.real);
  switch (step.kind) {
    case 'add-real-server':
      if (!present) return 'unknown';
      return there ? 'done' : { kind: 'real-server', server, real };
    case 'edit-real-server': {
      if (!there) return 'unknown';
      const isAsWanted = there.weight === step.real.weight && there.forwarding === step.real.forwarding;
      return isAsWanted ? 'done' : { kind: 'real-server', server, real, change: 'edit' };
    }
    case 'delete-real-server':
      return there ? { kind: 'real-server', server, real, change: 'deletion' } : 'done';
    default:
      return assertNever(step);
  }
}
