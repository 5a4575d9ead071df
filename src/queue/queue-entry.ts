import { type Batch, isFull, joinBatches } from './batch-window.ts';
import { type ChangeKind, LEVEL_RANKS, type Level } from './change.ts';
import type { TakenFor } from './queue-metrics.ts';
import type { QueueSettings } from './settings.ts';

/** `full` passes look at everything, so Services that wait for a retry go along, too; quarantined ones do not. */
export type PassScope = 'normal' | 'full';

/** One Service in a pass. */
export interface TakenService {
  /** `namespace/name`. */
  readonly service: string;
  /** The most urgent of all that is not applied yet. */
  readonly level: Level;
  readonly kinds: readonly ChangeKind[];
  /** The oldest event that is not applied yet, by the queue's clock. */
  readonly firstEventMs: number;
  /** Events since it was applied last. */
  readonly events: number;
  /** Its own, in a row, before this try. */
  readonly failures: number;
  readonly why: TakenFor;
}

/** One Service that waits. */
export interface WaitingService {
  readonly service: string;
  readonly level: Level;
  /** `Infinity` when it waits for the next pass, whenever that comes. */
  readonly dueMs: number;
  readonly events: number;
  readonly failures: number;
}

/** What the queue keeps of one Service that waits. It has a `fresh` batch, or an `unapplied` one, or both. */
export interface Entry {
  readonly service: string;
  /** Events that no pass has taken; `undefined` when there are none. */
  fresh: Batch | undefined;
  /** What passes have taken and not applied; `undefined` when there was no such pass. */
  unapplied: Batch | undefined;
  /** When `unapplied` asks for a pass; `Infinity` when it does not. */
  retryMs: number;
  /** It waits for its own retry, and not along with others, because it failed itself. */
  failed: boolean;
  /** Since when it waits. */
  readonly sinceMs: number;
}

export function newEntry(service: string, fresh: Batch | undefined, sinceMs: number): Entry {
  return { service, fresh, unapplied: undefined, retryMs: Number.POSITIVE_INFINITY, failed: false, sinceMs };
}

/** All that is not applied, as one. */
export function wholeBatch({ service, fresh, unapplied }: Entry): Batch {
  if (fresh && unapplied) return joinBatches(fresh, unapplied);
  const only = fresh ?? unapplied;
  if (!only) throw new Error(`${service} waits for nothing`);
  return only;
}

export function levelOf(entry: Entry): Level {
  return wholeBatch(entry).level;
}

export function whyTaken({ fresh, retryMs }: Entry, settings: QueueSettings, nowMs: number): TakenFor {
  if (retryMs <= nowMs) return 'retry';
  if (!fresh || fresh.dueMs > nowMs) return 'riding-along';
  return isFull(fresh, settings) ? 'full-batch' : 'due';
}

/** The most urgent first, then the one that has waited longest. */
export function byUrgency(a: TakenService, b: TakenService): number {
  return LEVEL_RANKS[a.level] - LEVEL_RANKS[b.level] || a.firstEventMs - b.firstEventMs;
}
