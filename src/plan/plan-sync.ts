import { applyDummySteps, type DummyStep, diffDummy } from '../kernel/dummy/diff.ts';
import { ownSets } from '../kernel/ipset/definitions.ts';
import { applyIpsetSteps, diffIpsets, type IpsetStep } from '../kernel/ipset/diff.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import { applyTableChanges, diffIptables, type TableChange, withoutSets } from '../kernel/iptables/diff.ts';
import { type ReadTables, TABLES, type TableName, type WantedTables } from '../kernel/iptables/state.ts';
import {
  applyIpvsDiff,
  type Draining,
  diffIpvs,
  type IpvsStep,
  type KeptServer,
  PATIENT,
} from '../kernel/ipvs/diff.ts';
import type { IpvsState, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { comesEmpty, leadsNowhere, shutting } from './bound-frontends.ts';
import { waitsForAddress } from './closed-frontends.ts';
import { AT_ONCE, closingAddresses, type StaysBound, withClosing } from './closing.ts';
import { withLingering } from './lingering.ts';
import { type OwnershipInputs, ownership } from './ownership.ts';
import { rangeTurns } from './range-entries.ts';
import { servedEntries } from './served-entries.ts';
import { withStandingRules } from './standing-rules.ts';

/** What one tool has to do, in one process. */
export type PlanPart =
  | { readonly tool: 'ipset'; readonly steps: readonly IpsetStep[] }
  | { readonly tool: 'iptables'; readonly family: Family; readonly changes: readonly TableChange[] }
  | { readonly tool: 'ipvs'; readonly steps: readonly IpvsStep[] }
  | { readonly tool: 'address'; readonly steps: readonly DummyStep[] };

export interface Plan {
  readonly family: Family;
  /** In the order in which they must run; nothing in it for a part that is as wanted already. */
  readonly parts: readonly PlanPart[];
  /** The kernel's state once all parts have run. */
  readonly after: ObservedState;
  /** Virtual and real servers that are not wanted and stay, with the reason. */
  readonly kept: readonly KeptServer[];
  /** Addresses that are not wanted and stay bound for a while, to refuse what comes for connections that are cut. */
  readonly closing: ReadonlySet<IpAddress>;
  /** Addresses on the dummy interface that somebody else has bound. */
  readonly foreignAddresses: readonly IpAddress[];
  /** Sets of ours with another type that rules of others name: the kernel does not destroy them, and what is in them cannot be had. */
  readonly blockedSets: readonly BlockedSet[];
}

export interface PlanOptions {
  /** Rules for the old and the new sets alike; the wanted ones unless given. */
  readonly meanwhile?: WantedTables;
  readonly draining?: Draining;
  readonly staysBound?: StaysBound;
  /** Virtual servers that nobody wants and that the kernel does not let go of; they are wanted with what is left of them. */
  readonly stuck?: ReadonlySet<VirtualServerKey>;
  /** Sets that cannot be exchanged for others. */
  readonly fixedSets?: ReadonlySet<string>;
  /** Entries that would guard the node behind an address, and that the kernel does not take. */
  readonly refusedGuards?: ReadonlySet<SetEntry>;
}

export interface BlockedSet {
  readonly name: string;
  readonly table: TableName;
  readonly chain: string;
}

/**
 * The steps from `observed` to `desired`, in an order in which no packet meets a half-made service: sets and rules before virtual
 * servers, virtual servers before their addresses; the other way round for what goes. Rules are written early for the sake of what is new,
 * as `meanwhile` with those that stand, which are for what goes too; and late where things go, so that what guards an address stands as long
 * as the address does. What leads to a virtual server that lingers stays with it; one that its address outlives is emptied and shut before it
 * goes, and one that comes to an address that stands comes empty before it is opened.
 * Rules that name a set of another type go first of all, for the kernel destroys no set that is named. Neighbours of one tool are one part.
 */
export function planSync(
  desired: KernelState,
  observed: ObservedState,
  inputs: OwnershipInputs,
  options: PlanOptions = {},
): Plan {
  const { meanwhile = desired.tables, draining = PATIENT, stuck, fixedSets } = options;
  const { staysBound = AT_ONCE, refusedGuards = new Set() } = options;
  const own = ownership(observed, inputs);
  const ipvs = diffIpvs(observed.ipvs, desired.ipvs, own.mayDelete, draining);
  const kept = [...ipvs.kept, ...stuckServers(stuck, desired.ipvs)];
  const lingering = withLingering(desired, observed, kept, inputs.ownAddresses, refusedGuards);
  const rulesOfClosing = { staysBound, isOurs: own.mayUnbind, refusedGuards };
  const closing = closingAddresses(lingering, observed, ipvs.cut, rulesOfClosing);
  const standing = withClosing(lingering, closing);
  const sets = diffIpsets(
    observed.sets,
    standing.sets,
    ownSets(desired.family),
    fixedSets,
    servedEntries(observed.ipvs),
  );
  const unreferencing = withoutSets(observed.tables, sets.rebuilt, desired.tables);
  const dummy = diffDummy(observed.dummy, standing.dummy, own.mayUnbind);
  const nothingNew = ipvs.additions.length + sets.early.length + dummy.additions.length === 0;
  const tables = applyTableChanges(observed.tables, unreferencing);
  const early = nothingNew ? [] : diffIptables(tables, withStandingRules(meanwhile, tables));
  const late = diffIptables(applyTableChanges(tables, early), desired.tables);
  const isFirst = comesEmpty(standing, observed.sets, observed.dummy.addresses);
  const { addresses: after } = applyDummySteps(observed.dummy, [...dummy.additions, ...dummy.removals]);
  const { closed, empties, shuts } = shutting(desired, ipvs.removals, after, tables);
  const isClosedYet = waitsForAddress(desired, observed);
  const isOfNobody = leadsNowhere(desired, observed.ipvs);
  const { isLate, isEarly } = rangeTurns(desired, observed);
  const goesEarly = (step: IpsetStep) => isOfNobody(step) || isEarly(step);
  const goesLast = (step: IpsetStep) => !(shuts(step) || goesEarly(step));
  const rules = (changes: readonly TableChange[]): PlanPart => ({ tool: 'iptables', family: desired.family, changes });
  const parts: readonly PlanPart[] = [
    rules(unreferencing),
    { tool: 'ipvs', steps: ipvs.additions.filter(isFirst) },
    { tool: 'ipset', steps: [...sets.early.filter((step) => !isLate(step)), ...sets.late.filter(goesEarly)] },
    rules(early),
    { tool: 'ipvs', steps: ipvs.additions.filter((step) => !(isFirst(step) || isClosedYet(step))) },
    { tool: 'address', steps: dummy.additions },
    { tool: 'ipvs', steps: [...ipvs.additions.filter(isClosedYet), ...closed] },
    { tool: 'address', steps: dummy.removals },
    { tool: 'ipvs', steps: empties },
    { tool: 'ipset', steps: sets.late.filter(shuts) },
    { tool: 'ipvs', steps: ipvs.removals },
    rules(late),
    { tool: 'ipset', steps: [...sets.early.filter(isLate), ...sets.late.filter(goesLast)] },
  ];
  return {
    family: desired.family,
    parts: joinNeighbours(parts.filter(hasWork)),
    after: {
      family: desired.family,
      sets: applyIpsetSteps(observed.sets, [...sets.early, ...sets.late]),
      tables: applyTableChanges(observed.tables, [...unreferencing, ...early, ...late]),
      ipvs: applyIpvsDiff(observed.ipvs, ipvs),
      dummy: applyDummySteps(observed.dummy, [...dummy.additions, ...dummy.removals]),
    },
    kept,
    closing,
    foreignAddresses: dummy.foreign,
    blockedSets: findBlocked(sets.rebuilt, tables),
  };
}

function stuckServers(keys: Iterable<VirtualServerKey> = [], desired: IpvsState): readonly KeptServer[] {
  return [...keys].flatMap((key) => {
    const server = desired.get(key);
    return server ? [{ why: 'refused' as const, server }] : [];
  });
}

/** What still names a set after our own chains have let go of it; the first for each set. */
function findBlocked(rebuilt: readonly string[], tables: ReadTables): readonly BlockedSet[] {
  return rebuilt.flatMap((name) => {
    const naming = TABLES.flatMap((table) =>
      [...tables[table]].flatMap(([chain, rules]) =>
        rules.some((rule) => rule.includes(`--match-set ${name} `)) ? [{ name, table, chain }] : [],
      ),
    );
    return naming.slice(0, 1);
  });
}

function hasWork(part: PlanPart): boolean {
  return part.tool === 'iptables' ? part.changes.length > 0 : part.steps.length > 0;
}

function joinNeighbours(parts: readonly PlanPart[]): readonly PlanPart[] {
  const joined: PlanPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const both = last && joinParts(last, part);
    if (both) joined[joined.length - 1] = both;
    else joined.push(part);
  }
  return joined;
}

function joinParts(first: PlanPart, second: PlanPart): PlanPart | undefined {
  if (first.tool === 'ipset' && second.tool === 'ipset') return { ...first, steps: [...first.steps, ...second.steps] };
  if (first.tool === 'ipvs' && second.tool === 'ipvs') return { ...first, steps: [...first.steps, ...second.steps] };
  if (first.tool === 'address' && second.tool === 'address') {
    return { ...first, steps: [...first.steps, ...second.steps] };
  }
  return undefined;
}
