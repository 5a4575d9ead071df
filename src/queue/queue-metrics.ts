import { CHANGE_KINDS, type ChangeKind, LEVELS, type Level, RETRY_SORTS, type RetrySort } from './change.ts';
import { Histogram, type HistogramReading } from './histogram.ts';

/** Why a Service is in a pass: its time had come, its batch was full, its retry was due, or the pass was there and took it along. */
export const TAKEN_FOR = ['due', 'full-batch', 'retry', 'riding-along'] as const;
export type TakenFor = (typeof TAKEN_FOR)[number];

/** Why an event led to nothing. */
export const DROP_REASONS = ['same-version', 'immaterial', 'not-ours'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Outcome of a Service's part of a pass; `untried` when the pass failed for a reason that is not the Service's. */
export const WORK_OUTCOMES = ['applied', 'failed', 'untried'] as const;
export type WorkOutcome = (typeof WORK_OUTCOMES)[number];

/** Is told what a queue does, as it happens. Times are in milliseconds. */
export interface QueueObserver {
  /** An event was taken up; `joined` when its Service waited already. */
  event(level: Level, kind: ChangeKind, joined: 'new' | 'joined'): void;
  /** A Service went into a pass, so long after its first event, or after the failure that it is retried for. */
  taken(service: string, level: Level, why: TakenFor, waitedMs: number, nowMs: number): void;
  /** A Service came out of its pass. */
  finished(service: string, outcome: WorkOutcome, nowMs: number): void;
  /** A Service that was not applied waits for its next try; `joined` when it waits for another event anyhow. */
  retried(sort: RetrySort, joined: 'new' | 'joined'): void;
}

export interface QueueReading {
  /** Services that wait, be it for a pass, for a retry, or for the end of the pass that they are in. */
  readonly depth: number;
  /** Services that began to wait because of an event. */
  readonly adds: number;
  readonly retries: Readonly<Record<RetrySort, number>>;
  readonly eventsByLevel: Readonly<Record<Level, number>>;
  readonly eventsByKind: Readonly<Record<ChangeKind, number>>;
  readonly dropped: Readonly<Record<DropReason, number>>;
  readonly takenFor: Readonly<Record<TakenFor, number>>;
  readonly outcomes: Readonly<Record<WorkOutcome, number>>;
  /** In seconds. */
  readonly latency: Readonly<Record<Level, HistogramReading>>;
  /** In seconds. */
  readonly workDuration: HistogramReading;
  /** Of all Services in a pass together. */
  readonly unfinishedSeconds: number;
  readonly longestRunningSeconds: number;
}

/**
 * Keeps what a queue does as numbers.
 *
 * Source: kubernetes/client-go util/workqueue/metrics.go; kubernetes/component-base metrics/prometheus/workqueue (bounds)
 */
export class QueueMetrics implements QueueObserver {
  #depth = 0;
  #adds = 0;
  readonly #retries = zeros(RETRY_SORTS);
  readonly #eventsByLevel = zeros(LEVELS);
  readonly #eventsByKind = zeros(CHANGE_KINDS);
  readonly #dropped = zeros(DROP_REASONS);
  readonly #takenFor = zeros(TAKEN_FOR);
  readonly #outcomes = zeros(WORK_OUTCOMES);
  readonly #latency = byName(LEVELS, () => new Histogram(BOUNDS_SECONDS));
  readonly #workDuration = new Histogram(BOUNDS_SECONDS);
  readonly #startedMs = new Map<string, number>();

  event(level: Level, kind: ChangeKind, joined: 'new' | 'joined'): void {
    this.#eventsByLevel[level] += 1;
    this.#eventsByKind[kind] += 1;
    if (joined === 'joined') return;
    this.#adds += 1;
    this.#depth += 1;
  }

  /** An event that never came to the queue. */
  drop(reason: DropReason): void {
    this.#dropped[reason] += 1;
  }

  taken(service: string, level: Level, why: TakenFor, waitedMs: number, nowMs: number): void {
    this.#depth -= 1;
    this.#takenFor[why] += 1;
    this.#latency[level].observe(waitedMs / 1000);
    this.#startedMs.set(service, nowMs);
  }

  finished(service: string, outcome: WorkOutcome, nowMs: number): void {
    this.#outcomes[outcome] += 1;
    this.#workDuration.observe((nowMs - (this.#startedMs.get(service) ?? nowMs)) / 1000);
    this.#startedMs.delete(service);
  }

  retried(sort: RetrySort, joined: 'new' | 'joined'): void {
    this.#retries[sort] += 1;
    if (joined === 'new') this.#depth += 1;
  }

  read(nowMs: number): QueueReading {
    const runningMs = [...this.#startedMs.values()].map((startedMs) => nowMs - startedMs);
    return {
      depth: this.#depth,
      adds: this.#adds,
      retries: { ...this.#retries },
      eventsByLevel: { ...this.#eventsByLevel },
      eventsByKind: { ...this.#eventsByKind },
      dropped: { ...this.#dropped },
      takenFor: { ...this.#takenFor },
      outcomes: { ...this.#outcomes },
      latency: byName(LEVELS, (level) => this.#latency[level].read()),
      workDuration: this.#workDuration.read(),
      unfinishedSeconds: runningMs.reduce((sum, ms) => sum + ms, 0) / 1000,
      longestRunningSeconds: runningMs.reduce((longest, ms) => Math.max(longest, ms), 0) / 1000,
    };
  }
}

/** 10 ns, 100 ns, … 1,000 s. */
const BOUNDS_SECONDS: readonly number[] = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return byName(names, () => 0);
}

function byName<Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}
