import { type Desired, isElsewhere } from '../desired/desired.ts';
import type { DesiredState } from '../desired/desired-state.ts';
import type { ProxySettings } from '../desired/settings.ts';
import { type Touched, union } from '../desired/touched.ts';
import type { RealServerKey, VirtualServer, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServiceName } from '../model/names.ts';
import type { NodeView } from '../model/node-view.ts';
import { succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { touchedBy } from '../plan/lingering.ts';
import type { Plan } from '../plan/plan-sync.ts';
import { type Refused, undeleted } from '../plan/refused.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { ClosingAddresses } from './closing-addresses.ts';
import type { Drains } from './drains.ts';
import { type Leftover, leftoversAfter } from './leftovers.ts';
import type { KernelPort, ScriptRun, SyncError } from './ports.ts';
import { type Programmed, programFamily } from './program-family.ts';
import { wantersIn } from './wanted-by.ts';

/** One family, as it is kept from pass to pass. */
export interface FamilyParts {
  readonly family: Family;
  readonly tracker: Tracker;
  readonly wanted: DesiredState;
  readonly drains: Drains;
  readonly closing: ClosingAddresses;
  /** What passes have begun to make since the last one that came to its end. */
  readonly halfMade: Set<VirtualServerKey>;
}

/** What a pass has worked towards. */
export interface FamilyState {
  readonly family: Family;
  /** Live: later passes change it. */
  readonly desired: Desired;
}

export interface FamilyOutcome {
  readonly state: FamilyState;
  /** What stands in the way of everything; the pass has to be tried again. */
  readonly error: SyncError | undefined;
  /** What the kernel did not take, by the Service that wants it; all else was done. */
  readonly refusals: readonly Refusal[];
  /** What is known to be refused, be it by this pass or by one before. */
  readonly refused: readonly Refused[];
  /** Of that, what nobody wants any more and the kernel does not let go of; it is tried again in later passes. */
  readonly leftovers: readonly Leftover[];
  readonly changedServices: number;
  readonly runs: readonly ScriptRun[];
  /** Real servers without new connections that wait for their last one to end. */
  readonly draining: number;
  /** Addresses that are not wanted and stay bound for a while. */
  readonly closing: number;
  /** Milliseconds until it is time to look at one of these, or at UDP flows that are left; `undefined` when there are none. */
  readonly lookAfterMs: number | undefined;
  /** `undefined` when it did not come to a plan. */
  readonly plan: Plan | undefined;
  /** Stale UDP flows that were ended. */
  readonly endedFlows: number;
  /** Why stale UDP flows may be left; it does not make the pass a failed one. */
  readonly flowsError: SyncError | undefined;
}

/** What the families of a pass have in common. */
export interface PassInputs {
  readonly node: NodeView;
  readonly settings: ProxySettings;
  readonly kernel: KernelPort;
  /** Why the kernel could not be read, though it was to be. */
  readonly unreadable: SyncError | undefined;
  /** The kernel was read anew, and all of it is compared; else only what is touched. */
  readonly everything: boolean;
  readonly refusedBefore: RefusedBefore;
  /** Virtual servers of deleted Services linger until their connections have ended. */
  readonly drainsDeleted: boolean;
  readonly nowMs: () => number;
}

/** What the kernel did not take in earlier passes, and whose turn it is to be tried again. */
export interface RefusedBefore {
  readonly things: readonly Refused[];
  readonly leftovers: readonly Leftover[];
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
export async function syncFamily(parts: FamilyParts, inputs: PassInputs): Promise<FamilyOutcome> {
  const { family, tracker, wanted, drains, closing } = parts;
  const { kernel, refusedBefore, nowMs } = inputs;
  const tracked = tracker.takePendingChanges();
  const desired = wanted.update(tracked, inputs.node);
  const { leftovers } = refusedBefore;
  const waiting = new Set(leftovers.flatMap(({ refused: thing, waits }) => (waits > 0 ? [thing] : [])));
  const wantedBy = wantersIn(desired);
  const isHeldBack = (thing: Refused) => {
    const concerned = wantedBy(thing);
    if (concerned.length > 0) return !concerned.some(refusedBefore.isTried);
    return !inputs.everything && waiting.has(thing);
  };
  const heldBack = refusedBefore.things.filter(isHeldBack);
  const { refused, ...programmed } = await program(parts, desired, heldBack, inputs);
  const { runs, moreFlows, ...flows } = programmed.applied ? await clearStaleFlows(parts, desired, kernel) : NO_FLOWS;
  const ofNobody = refused.filter(({ refused: thing }) => wantedBy(thing).length === 0);
  return {
    error: programmed.error,
    plan: programmed.plan,
    ...flows,
    refusals: refused.flatMap(({ refused: thing, message }) =>
      wantedBy(thing).map((service) => ({ service, refused: thing, message })),
    ),
    refused: [...heldBack, ...refused.map(({ refused: thing }) => thing)],
    leftovers: leftoversAfter(leftovers, (thing) => waiting.has(thing) && heldBack.includes(thing), ofNobody),
    runs: [...programmed.runs, ...runs],
    draining: drains.count,
    closing: closing.count,
    lookAfterMs: soonest(
      soonest(drains.untilDueMs(nowMs()), closing.untilDueMs(nowMs())),
      moreFlows ? MORE_FLOWS_AFTER_MS : undefined,
    ),
    state: { family, desired },
    changedServices: tracked.changed.size,
  };
}

/**
 * Counts connections where it is time to, and programs what is touched by that or by changes. Where somebody else has taken away what drains,
 * the family is read anew in the same pass, so that no change has to wait for another one.
 */
async function program(
  { family, wanted, drains, closing, halfMade }: FamilyParts,
  desired: Desired,
  heldBack: readonly Refused[],
  { settings, kernel, unreadable, everything, refusedBefore, drainsDeleted, nowMs }: PassInputs,
): Promise<Programmed> {
  const startedMs = nowMs();
  const isTaken = (address: IpAddress) => isElsewhere(desired, address);
  const due = drains.due(startedMs, isTaken);
  const looked = union([
    wanted.touched,
    touchedBy(due.lingering),
    { ...NOTHING, servers: new Set(due.servers) },
    closing.due(startedMs, isTaken),
  ]);
  const counted = everything ? succeed(undefined) : await kernel.countConnections(family, due.servers);
  const read = counted.ok ? counted : await kernel.refresh([family]);
  const isFresh = everything || !counted.ok;
  const scope = isFresh || refusedBefore.things.length > 0 ? 'everything' : looked;
  const draining = {
    isOver: (server: VirtualServerKey, real: RealServerKey) => drains.isOver(server, real, startedMs),
    mayLinger: ({ address }: VirtualServer) => drainsDeleted && !isTaken(address),
  };
  const isOthers = (address: IpAddress) => isTaken(address) || desired.node.ownAddresses.includes(address);
  const left = undeleted(refusedBefore.things);
  const programmed = await programFamily({
    desired,
    remembered: {
      servers: {
        has: (server) => wanted.touched.servers.has(server) || drains.lingers(server) || left.servers.has(server),
      },
      addresses: {
        has: (address) => wanted.touched.addresses.has(address) || closing.has(address) || left.addresses.has(address),
      },
    },
    settings,
    heldBack,
    scope,
    isFresh,
    draining,
    closing: {
      stays: (address, isCut) => !isOthers(address) && closing.stays(address, isCut, startedMs),
      begin: (addresses) => closing.begin(addresses, startedMs),
    },
    halfMade,
    kernel,
    unreadable: unreadable ?? (read.ok ? undefined : read.error),
  });
  if (programmed.applied) {
    wanted.settled();
    const { scope: compared, plan } = programmed;
    const servers = {
      scope: compared === 'everything' ? compared : compared.servers,
      looked: everything ? ('everything' as const) : new Set(due.servers),
    };
    drains.passed(servers, plan?.kept ?? [], startedMs);
    closing.passed(compared === 'everything' ? compared : compared.addresses, plan?.closing ?? new Set());
  }
  return programmed;
}

const NOTHING: Touched = { servers: new Set(), addresses: new Set(), entries: new Set(), rules: false };

/** The rest of them is for a pass of its own, so that changes need not wait. */
const MORE_FLOWS_AFTER_MS = 1000;

function soonest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

type Cleared = Pick<FamilyOutcome, 'runs' | 'endedFlows' | 'flowsError'> & {
  /** Stale flows were left, as it would have taken too long. */
  readonly moreFlows: boolean;
};

const NO_FLOWS: Cleared = { runs: [], endedFlows: 0, flowsError: undefined, moreFlows: false };

/** Ends the flows that have become stale since the last time that was done completely; what is left is looked for in another pass. */
async function clearStaleFlows(
  { family, wanted: { staleFlows } }: FamilyParts,
  { owners }: Desired,
  kernel: KernelPort,
): Promise<Cleared> {
  const targets = staleFlows.targets(owners);
  if (targets.size === 0) return NO_FLOWS;
  const cleared = await kernel.clearStaleFlows(family, targets);
  if (!cleared.ok) return { ...NO_FLOWS, flowsError: cleared.error };
  const { runs, flows, more } = cleared.value;
  if (!more) staleFlows.cleared();
  return { runs, endedFlows: flows, flowsError: undefined, moreFlows: more };
}
