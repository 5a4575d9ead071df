import type { OwnSets } from './definitions.ts';
import { type IpSet, type IpsetState, type SetEntry, withEntries } from './state.ts';

/** One change of the sets; each is one line of `ipset restore`. */
export type IpsetStep =
  | { readonly kind: 'create-set'; readonly set: IpSet }
  | { readonly kind: 'add-entry'; readonly set: IpSet; readonly entry: SetEntry }
  | { readonly kind: 'delete-entry'; readonly set: IpSet; readonly entry: SetEntry }
  /** The two exchange their content; rules go on naming the first. */
  | { readonly kind: 'swap-sets'; readonly set: IpSet; readonly other: string }
  | { readonly kind: 'destroy-set'; readonly name: string };

export interface IpsetDiff {
  /** Before servers and addresses change. */
  readonly early: readonly IpsetStep[];
  /** After servers and addresses have changed. */
  readonly late: readonly IpsetStep[];
  /** Sets that stand with a type or family that cannot be swapped for ours: no rule may name them while `early` runs. */
  readonly rebuilt: readonly string[];
}

/** What is known of virtual servers, before the pass. */
export interface Frontends {
  /** There is one that the entry is about. */
  readonly stands: (set: IpSet, entry: SetEntry) => boolean;
  /** It takes new clients; of one at `ADDRESS,proto:PORT`. */
  readonly serves: (frontend: SetEntry) => boolean;
}

/**
 * What leads from `observed` to `desired`: additions early, deletions late. The other way round for entries that spare a frontend the
 * masquerading and neither come nor go with it: while it has servers elsewhere it needs that, as long as it stands at all. What
 * opens to some goes early where the frontend takes no clients yet and stays closed to others, for it may get servers before the end. A set with other parameters is replaced: made
 * and filled under another name, one that is not wanted itself, then swapped, so that a packet meets the old one or the new one. What closes comes after all that opens
 * again; in `late` it goes first, as it stands first among the sets. Sets under own names that are not in `desired` are destroyed; all others
 * are not looked at. `fixed`: sets that are not replaced, whatever their size and options; what does not fit into them is for the kernel to say.
 */
export function diffIpsets(
  observed: IpsetState,
  desired: IpsetState,
  own: OwnSets,
  fixed: ReadonlySet<string> = NO_NAMES,
  frontends: Frontends = { stands: () => true, serves: () => true },
): IpsetDiff {
  const leftOver = own.standIns.filter((name) => observed.has(name) && !desired.has(name));
  const creates: IpsetStep[] = leftOver.map((name) => ({ kind: 'destroy-set', name }));
  const standIn = own.standIns.find((name) => !desired.has(name)) ?? own.standIns[0];
  const [opening, closing]: readonly [IpsetStep[], IpsetStep[]] = [[], []];
  const late: IpsetStep[] = [];
  const rebuilt: string[] = [];
  for (const [name, set] of desired) {
    const present = observed.get(name);
    if (present === set) continue;
    const early = own.closing.has(name) ? closing : opening;
    if (present && isSwappable(present, set)) {
      const kept = keptEntries(present);
      const from = own.exemptions.get(name) ?? '';
      const [isOld, stays] = [observed.get(from)?.entries, desired.get(from)?.entries];
      const waits = (entry: SetEntry) => isOld?.has(entry) && frontends.stands(set, entry);
      const ends = (entry: SetEntry) =>
        stays?.has(entry) || (own.opening.has(name) && isOpenInVain(entry, desired, own, frontends));
      if (!fixed.has(name) && isReplaced(present, set)) {
        const waiting = adds(present.entries, set).filter(({ entry }) => waits(entry));
        const ending = deletes(kept, set).filter(({ entry }) => ends(entry));
        const left = without(kept, ending);
        early.push(...exchange(left, withEntries(set, without(set.entries, waiting)), standIn));
        late.push(...deletes(left, set), ...waiting);
      } else {
        for (const step of adds(kept, set)) (waits(step.entry) ? late : early).push(step);
        for (const step of deletes(kept, set)) (ends(step.entry) ? early : late).push(step);
      }
      continue;
    }
    if (present) {
      rebuilt.push(name);
      creates.push({ kind: 'destroy-set', name });
    }
    creates.push({ kind: 'create-set', set });
    early.push(...adds(NO_ENTRIES, set));
  }
  for (const name of own.names) {
    if (observed.has(name) && !desired.has(name)) late.push({ kind: 'destroy-set', name });
  }
  return { early: [...creates, ...opening, ...closing], late, rebuilt };
}

/** `ADDRESS,proto:PORT,SOURCE`: nobody is served there, and it is to be closed to other sources. */
function isOpenInVain(entry: SetEntry, desired: IpsetState, { closing }: OwnSets, { serves }: Frontends): boolean {
  const frontend = entry.slice(0, entry.lastIndexOf(',')) as SetEntry;
  return [...closing].some((name) => desired.get(name)?.entries.has(frontend)) && !serves(frontend);
}

/** The state after the steps, provided the kernel accepts them all. */
export function applyIpsetSteps(state: IpsetState, steps: readonly IpsetStep[]): IpsetState {
  if (steps.length === 0) return state;
  const sets = new Map(state);
  const changed = new Map<string, Set<SetEntry>>();
  const entriesOf = (name: string) => changed.get(name) ?? new Set(sets.get(name)?.entries);
  for (const step of steps) {
    switch (step.kind) {
      case 'create-set':
        sets.set(step.set.name, step.set);
        changed.set(step.set.name, new Set());
        break;
      case 'add-entry':
        changed.set(step.set.name, entriesOf(step.set.name).add(step.entry));
        break;
      case 'delete-entry': {
        const entries = entriesOf(step.set.name);
        entries.delete(step.entry);
        changed.set(step.set.name, entries);
        break;
      }
      case 'swap-sets':
        swap(sets, changed, [step.set.name, step.other]);
        break;
      default:
        sets.delete(step.name);
        changed.delete(step.name);
    }
  }
  for (const [name, entries] of changed) {
    const set = sets.get(name);
    if (set) sets.set(name, { ...set, entries });
  }
  return sets;
}

function swap(
  sets: Map<string, IpSet>,
  changed: Map<string, Set<SetEntry>>,
  [one, other]: readonly [string, string],
): void {
  const [first, second] = [sets.get(one), sets.get(other)];
  if (!first || !second) return;
  const [ofFirst, ofSecond] = [
    changed.get(one) ?? new Set(first.entries),
    changed.get(other) ?? new Set(second.entries),
  ];
  sets.set(one, { ...second, name: one }).set(other, { ...first, name: other });
  changed.set(one, ofSecond).set(other, ofFirst);
}

/** The kernel swaps sets of one type and family only. */
export function isSwappable(present: IpSet, wanted: IpSet): boolean {
  return present.type === wanted.type && present.family === wanted.family;
}

/** A hash that has grown is made smaller only when there is plenty of room in the smaller one, so that it does not go to and fro. */
function isReplaced(present: IpSet, wanted: IpSet): boolean {
  if (present.oddities.length > 0) return true;
  if (present.maxEntries === undefined || wanted.maxEntries === undefined) return false;
  if (present.maxEntries < wanted.maxEntries) return true;
  const isSameSize = present.maxEntries === wanted.maxEntries;
  if (isSameSize && present.entries.size + wanted.entries.size <= present.maxEntries) return false;
  const together = new Set([...present.entries, ...wanted.entries]).size;
  return together > present.maxEntries || (!isSameSize && together <= wanted.maxEntries * ROOM_TO_SHRINK);
}

const ROOM_TO_SHRINK = 0.75;

/** What is to stay until the end of the pass; entries that may mean the opposite are not. */
function keptEntries(present: IpSet): ReadonlySet<SetEntry> {
  return present.oddities.includes('nomatch') ? NO_ENTRIES : present.entries;
}

const NO_ENTRIES: ReadonlySet<SetEntry> = new Set();
const NO_NAMES: ReadonlySet<string> = new Set();

function exchange(kept: ReadonlySet<SetEntry>, wanted: IpSet, standIn: string): readonly IpsetStep[] {
  const full = withEntries({ ...wanted, name: standIn }, new Set([...wanted.entries, ...kept]));
  return [
    { kind: 'create-set', set: full },
    ...adds(NO_ENTRIES, full),
    { kind: 'swap-sets', set: wanted, other: standIn },
    { kind: 'destroy-set', name: standIn },
  ];
}

function adds(present: ReadonlySet<SetEntry>, set: IpSet): readonly EntryStep[] {
  const steps: EntryStep[] = [];
  for (const entry of set.entries) if (!present.has(entry)) steps.push({ kind: 'add-entry', set, entry });
  return steps;
}

function without(entries: ReadonlySet<SetEntry>, steps: readonly EntryStep[]): ReadonlySet<SetEntry> {
  return steps.length === 0 ? entries : entries.difference(new Set(steps.map(({ entry }) => entry)));
}

type EntryStep = Extract<IpsetStep, { readonly entry: SetEntry }>;

function deletes(present: ReadonlySet<SetEntry>, set: IpSet): readonly EntryStep[] {
  const steps: EntryStep[] = [];
  for (const entry of present) if (!set.entries.has(entry)) steps.push({ kind: 'delete-entry', set, entry });
  return steps;
}
