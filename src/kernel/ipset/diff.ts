import type { IpSet, IpsetState, SetEntry } from './state.ts';

/** One change of the sets; each is one line of `ipset restore`. */
export type IpsetStep =
  | { readonly kind: 'create-set'; readonly set: IpSet }
  | { readonly kind: 'add-entry'; readonly set: IpSet; readonly entry: SetEntry }
  | { readonly kind: 'delete-entry'; readonly set: IpSet; readonly entry: SetEntry };

/** A set of ours that stands in the kernel with another type or family; it cannot be filled. */
export interface SetConflict {
  readonly wanted: IpSet;
  readonly present: IpSet;
}

export interface IpsetDiff {
  readonly additions: readonly IpsetStep[];
  readonly removals: readonly IpsetStep[];
  readonly conflicts: readonly SetConflict[];
}

/** What leads from `observed` to `desired`. Sets that are not in `desired` are not ours and are not looked at. */
export function diffIpsets(observed: IpsetState, desired: IpsetState): IpsetDiff {
  const additions: IpsetStep[] = [];
  const removals: IpsetStep[] = [];
  const conflicts: SetConflict[] = [];
  for (const [name, set] of desired) {
    const present = observed.get(name);
    if (present === set) continue;
    if (!present) {
      additions.push({ kind: 'create-set', set });
    } else if (present.type !== set.type || present.family !== set.family) {
      conflicts.push({ wanted: set, present });
      continue;
    }
    for (const entry of set.entries) {
      if (!present?.entries.has(entry)) additions.push({ kind: 'add-entry', set, entry });
    }
    for (const entry of present?.entries ?? []) {
      if (!set.entries.has(entry)) removals.push({ kind: 'delete-entry', set, entry });
    }
  }
  return { additions: createsFirst(additions), removals, conflicts };
}

/** The state after the steps, provided the kernel accepts them all. */
export function applyIpsetSteps(state: IpsetState, steps: readonly IpsetStep[]): IpsetState {
  if (steps.length === 0) return state;
  const sets = new Map(state);
  const changed = new Map<string, Set<SetEntry>>();
  for (const step of steps) {
    const { name } = step.set;
    if (step.kind === 'create-set') {
      changed.set(name, new Set());
      sets.set(name, step.set);
      continue;
    }
    const entries = changed.get(name) ?? new Set(sets.get(name)?.entries);
    changed.set(name, entries);
    if (step.kind === 'add-entry') entries.add(step.entry);
    else entries.delete(step.entry);
  }
  for (const [name, entries] of changed) {
    const set = sets.get(name);
    if (set) sets.set(name, { ...set, entries });
  }
  return sets;
}

function createsFirst(steps: readonly IpsetStep[]): IpsetStep[] {
  return [...steps.filter(({ kind }) => kind === 'create-set'), ...steps.filter(({ kind }) => kind !== 'create-set')];
}
