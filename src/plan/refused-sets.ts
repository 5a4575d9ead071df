import { ownSets } from '../kernel/ipset/definitions.ts';
import { isSwappable } from '../kernel/ipset/diff.ts';
import type { IpsetState } from '../kernel/ipset/state.ts';
import type { KernelState } from '../kernel/state.ts';
import type { Refused } from './refused.ts';

/** What follows from it that whole sets were refused. */
export interface RefusedSets {
  /** Wanted sets that are not there, or stand as other ones than they are to be: nothing is in them, and no rule can name them. */
  readonly lacking: readonly string[];
  /** Sets that cannot be exchanged for larger ones or plain ones: they are changed as they stand. */
  readonly fixed: ReadonlySet<string>;
}

/**
 * Sets that stand in for others and do not go, both of them, are in the way of every exchange; an entry that stands and was refused all the same was
 * refused of the one that stands in. A set that was made by somebody meanwhile does not lack.
 */
export function refusedSets(
  { family, sets }: Pick<KernelState, 'family' | 'sets'>,
  refused: readonly Refused[],
  standing: IpsetState,
): RefusedSets {
  const { names, standIns } = ownSets(family);
  const lacking = new Set<string>();
  const fixed = new Set<string>();
  for (const each of refused) {
    if (each.kind === 'set-entry' && !each.change && standing.get(each.set)?.entries.has(each.entry)) {
      fixed.add(each.set);
    }
    if (each.kind !== 'set') continue;
    const [wanted, present] = [sets.get(each.set), standing.get(each.set)];
    if (each.change === 'edit') fixed.add(each.set);
    else if (!each.change && wanted && !(present && isSwappable(present, wanted))) lacking.add(each.set);
  }
  const stuck = new Set(
    refused.flatMap((each) => (each.kind === 'set' && each.change === 'deletion' ? [each.set] : [])),
  );
  if (standIns.every((name) => stuck.has(name) && standing.has(name))) for (const name of names) fixed.add(name);
  return { lacking: [...lacking], fixed };
}

/** Each entry that is wanted in a set that lacks, as one that was refused. */
export function entriesLacking({ sets }: Pick<KernelState, 'sets'>, lacking: readonly string[]): readonly Refused[] {
  return lacking.flatMap((set) =>
    [...(sets.get(set)?.entries ?? [])].map((entry): Refused => ({ kind: 'set-entry', set, entry })),
  );
}

/** The sets without those that lack. */
export function withoutLacking(sets: IpsetState, lacking: readonly string[]): IpsetState {
  return lacking.length === 0 ? sets : new Map([...sets].filter(([name]) => !lacking.includes(name)));
}

/** What stands under the name of a set that lacks, and what does not go, is wanted as it stands. */
export function withStandingSets(
  sets: IpsetState,
  refused: readonly Refused[],
  lacking: readonly string[],
  standing: IpsetState,
): IpsetState {
  const leftOver = refused.flatMap((each) => (each.kind === 'set' && each.change === 'deletion' ? [each.set] : []));
  const kept = [...lacking, ...leftOver].flatMap((name) => {
    const present = standing.get(name);
    return present && !sets.has(name) ? [[name, present] as const] : [];
  });
  return kept.length === 0 ? sets : new Map([...sets, ...kept]);
}
