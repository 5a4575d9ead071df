import { CHANGE_KINDS, type ChangeKind, RETRY_SORT_OF, RETRY_SORTS, type RetrySort } from './change.ts';

/** Some kinds of change as one number, bit `n` standing for the n-th of `CHANGE_KINDS`. */
export type KindSet = number;

const BITS: Readonly<Record<string, KindSet>> = Object.fromEntries(CHANGE_KINDS.map((kind, bit) => [kind, 1 << bit]));

/** Every set as a list, made once, so that no entry needs one of its own. */
const LISTS: readonly (readonly ChangeKind[])[] = Array.from({ length: 1 << CHANGE_KINDS.length }, (_, set) =>
  CHANGE_KINDS.filter((_, bit) => (set & (1 << bit)) !== 0),
);

export function kindSet(kind: ChangeKind): KindSet {
  return BITS[kind] ?? 0;
}

/** In the order of `CHANGE_KINDS`. */
export function kindsIn(set: KindSet): readonly ChangeKind[] {
  return LISTS[set] ?? [];
}

/** True when the Service itself was added, removed or changed. */
export function concernsService(set: KindSet): boolean {
  return (set & SERVICE_KINDS) !== 0;
}

const SERVICE_KINDS = kindSet('service-added') | kindSet('service-removed') | kindSet('service-changed');

/** The sort of its kinds that is retried soonest. */
export function retrySortOf(set: KindSet): RetrySort {
  const sorts = kindsIn(set).map((kind) => RETRY_SORT_OF[kind]);
  return RETRY_SORTS.find((sort) => sorts.includes(sort)) ?? 'minor';
}
