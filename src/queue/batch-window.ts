import { type Level, moreUrgent, type ServiceChange } from './change.ts';
import { type KindSet, kindSet } from './kind-set.ts';
import type { QueueSettings } from './settings.ts';

/** The events of one Service that no pass has taken yet, as one. */
export interface Batch {
  /** The most urgent of all. */
  level: Level;
  kinds: KindSet;
  firstMs: number;
  events: number;
  /** Moves to earlier times only. */
  dueMs: number;
}

export type BatchSettings = Pick<QueueSettings, 'levelDelaysMs' | 'batchSize' | 'batchWindowMs'>;

export function openBatch({ level, kind }: ServiceChange, nowMs: number, settings: BatchSettings): Batch {
  const batch = { level, kinds: 0, firstMs: nowMs, events: 0, dueMs: Number.POSITIVE_INFINITY };
  absorb(batch, level, kind, nowMs, settings);
  return batch;
}

/**
 * Adds an event to a batch. It is due after the delay of the event's level, within the window of the batch's level, or at once when it is
 * full, whichever is first; what came before may be due earlier.
 */
export function absorb(
  batch: Batch,
  level: Level,
  kind: ServiceChange['kind'],
  nowMs: number,
  settings: BatchSettings,
): void {
  batch.level = moreUrgent(batch.level, level);
  batch.kinds |= kindSet(kind);
  batch.events += 1;
  const byLevelMs = nowMs + settings.levelDelaysMs[level];
  const byWindowMs = batch.firstMs + windowMs(batch.level, settings);
  const byFillMs = isFull(batch, settings) ? nowMs : Number.POSITIVE_INFINITY;
  batch.dueMs = Math.min(batch.dueMs, byLevelMs, byWindowMs, byFillMs);
}

export function isFull({ events }: Batch, { batchSize }: Pick<BatchSettings, 'batchSize'>): boolean {
  return events >= batchSize;
}

/** Two batches of one Service as one; due when the earlier one is. */
export function joinBatches(a: Batch, b: Batch): Batch {
  return {
    level: moreUrgent(a.level, b.level),
    kinds: a.kinds | b.kinds,
    firstMs: Math.min(a.firstMs, b.firstMs),
    events: a.events + b.events,
    dueMs: Math.min(a.dueMs, b.dueMs),
  };
}

/**
 * The end of the batch window in which something is due that may wait for others. Windows follow each other from the clock's zero on, so
 * that all that is due within one has one time, whatever it is and whenever it is asked for.
 */
export function gatheredMs(dueMs: number, { batchWindowMs }: Pick<BatchSettings, 'batchWindowMs'>): number {
  return batchWindowMs === 0 ? dueMs : Math.ceil(dueMs / batchWindowMs) * batchWindowMs;
}

function windowMs(level: Level, { levelDelaysMs, batchWindowMs }: BatchSettings): number {
  return level === 'low' ? levelDelaysMs.low : batchWindowMs;
}
