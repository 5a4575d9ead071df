/** From the most to the least urgent. */
export const LEVELS = ['critical', 'high', 'normal', 'low'] as const;

/** How soon a change has to reach the kernel. */
export type Level = (typeof LEVELS)[number];

/** Place of a level in {@link LEVELS}; the smaller, the more urgent. */
export const LEVEL_RANKS: Readonly<Record<Level, number>> = { critical: 0, high: 1, normal: 2, low: 3 };

/** What happened to a Service, in the order in which they are tried: the first that fits is the kind of a change. */
export const CHANGE_KINDS = [
  'service-added',
  'service-removed',
  'service-changed',
  'ready-to-not-ready',
  'not-ready-to-ready',
  'port-update',
  'address-update',
  'minor',
] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** One material change of one Service, classified. */
export interface ServiceChange {
  /** `namespace/name`. */
  readonly service: string;
  readonly kind: ChangeKind;
  /** Usable ÷ all endpoints, 0…1; 1 when there are none. */
  readonly readyBefore: number;
  readonly readyAfter: number;
  /** How much of the Service changes, 0…1. */
  readonly magnitude: number;
  readonly level: Level;
}

/** Which limiter a Service is retried by. */
export type RetrySort = 'readiness' | 'update' | 'minor';

/** From the one that is retried soonest. */
export const RETRY_SORTS: readonly RetrySort[] = ['readiness', 'update', 'minor'];

export const RETRY_SORT_OF: Readonly<Record<ChangeKind, RetrySort>> = {
  'service-added': 'readiness',
  'service-removed': 'readiness',
  'service-changed': 'update',
  'ready-to-not-ready': 'readiness',
  'not-ready-to-ready': 'readiness',
  'port-update': 'update',
  'address-update': 'update',
  minor: 'minor',
};

export function moreUrgent(a: Level, b: Level): Level {
  return LEVEL_RANKS[a] <= LEVEL_RANKS[b] ? a : b;
}
