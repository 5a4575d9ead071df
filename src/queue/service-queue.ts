import { absorb, type Batch, gatheredMs, openBatch } from './batch-window.ts';
import type { Level, ServiceChange } from './change.ts';
import type { Clock } from './clock.ts';
import { DueHeap } from './due-heap.ts';
import { concernsService, kindsIn, retrySortOf } from './kind-set.ts';
import { laterOf } from './max-delay.ts';
import { Quarantine, type QuarantineChange, type QuarantinedService } from './quarantine.ts';
import {
  byUrgency,
  type Entry,
  levelOf,
  newEntry,
  type PassScope,
  type TakenService,
  type WaitingService,
  wholeBatch,
  whyTaken,
} from './queue-entry.ts';
import type { QueueObserver, WorkOutcome } from './queue-metrics.ts';
import { RetryLimiters } from './retry-limiters.ts';
import { impossibleSettings, type QueueSettings } from './settings.ts';
import { TokenBucket } from './token-bucket.ts';

/** Is told when a pass will be needed. */
export interface DueListener {
  /** Something of this level is due then; not after `nowMs` when it is due at once. Every earlier time is told anew. */
  dueAt(dueMs: number, level: Level): void;
  /** A pass took what was due: what was said before holds no longer. What is left is told right after. */
  taken(): void;
}

export interface ServiceQueueOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Gives 0 ≤ x < 1. */
  readonly random: () => number;
  readonly settings: QueueSettings;
  readonly listener?: DueListener;
  readonly observer?: QueueObserver;
}

/**
 * Services with changes, one entry each, until a pass has applied them.
 *
 * - An entry keeps the highest level and the earliest due time. A pass takes what is due and what waits for its first try.
 * - What comes while a Service is in a pass waits for the end of that pass.
 * - A Service that failed comes back on its own delay, or for a new event; one in quarantine for a change of the Service itself only.
 * - Those in quarantine are tried again together, once in a batch window at most.
 * - One that was not tried because its pass failed as a whole goes along with the next pass, whenever that comes, and asks for none.
 * - One token a pass: what is due waits for it when the bucket is empty. A pass that comes sooner for another reason leaves it.
 *
 * Source: kubernetes/client-go util/workqueue/queue.go (dirty and processing), delaying_queue.go
 */
export class ServiceQueue {
  readonly #options: ServiceQueueOptions;
  readonly #bucket: TokenBucket;
  readonly #limiters: RetryLimiters;
  readonly #quarantine: Quarantine;
  readonly #waiting = new Map<string, Entry>();
  readonly #inPass = new Map<string, Batch>();
  /** Due times of those waiting that any pass takes along, and of those that wait for their own time. In neither while in a pass. */
  readonly #riders = new DueHeap();
  readonly #loners = new DueHeap();
  /** From when on the next pass may start; `undefined` when no token was taken for it yet. */
  #tokenAtMs: number | undefined;
  #isShutDown = false;
  #idle = Promise.withResolvers<void>();

  constructor(options: ServiceQueueOptions) {
    const { settings, clock, random } = options;
    const impossible = impossibleSettings(settings);
    if (impossible.length > 0) throw new RangeError(`impossible settings: ${impossible.join(', ')}`);
    this.#options = options;
    this.#bucket = new TokenBucket({ perSecond: settings.passesPerSecond, burst: settings.passBurst }, clock.nowMs());
    this.#limiters = new RetryLimiters(settings, random);
    this.#quarantine = new Quarantine(settings.quarantineAfterFailures);
  }

  /** Takes up a change; false after the shut-down. */
  add(change: ServiceChange): boolean {
    if (this.#isShutDown) return false;
    const { settings, observer } = this.#options;
    const { service, level, kind } = change;
    const nowMs = this.#options.clock.nowMs();
    const entry = this.#waiting.get(service);
    observer?.event(level, kind, entry ? 'joined' : 'new');
    if (entry?.fresh) absorb(entry.fresh, level, kind, nowMs, settings);
    else if (entry) entry.fresh = openBatch(change, nowMs, settings);
    const placed = entry ?? newEntry(service, openBatch(change, nowMs, settings), nowMs);
    if (!entry) this.#waiting.set(service, placed);
    if (!this.#inPass.has(service)) this.#place(placed, level, nowMs);
    return true;
  }

  /** When the next pass is needed; `Infinity` when nothing waits for one. */
  nextDueMs(): number {
    return laterOf(this.#ownDueMs(), this.#tokenAtMs ?? 0);
  }

  /** Hands a pass its Services, the highest level first, within a level the oldest event first. Each must be `done`. */
  drain(scope: PassScope = 'normal'): readonly TakenService[] {
    const nowMs = this.#options.clock.nowMs();
    const names = [...this.#riders.takeAll(), ...this.#takeLoners(scope, nowMs)];
    const taken = names.flatMap((service) => this.#take(service, nowMs) ?? []).sort(byUrgency);
    if (taken.length > 0 && (this.#tokenAtMs ?? 0) <= nowMs) this.#tokenAtMs = undefined;
    this.#options.listener?.taken();
    this.#tellNext(nowMs);
    return taken;
  }

  /**
   * Ends a Service's part of a pass. `applied` forgets its failures, `failed` counts one and brings it back after a delay, `untried` has it
   * wait for the next pass. Gives the change of its quarantine, if any. A Service that is in no pass is left alone.
   */
  done(service: string, outcome: WorkOutcome): QuarantineChange | undefined {
    const batch = this.#inPass.get(service);
    if (!batch) return undefined;
    const nowMs = this.#options.clock.nowMs();
    this.#inPass.delete(service);
    this.#options.observer?.finished(service, outcome, nowMs);
    const change = this.#judge(service, outcome, nowMs);
    if (outcome !== 'applied' && !this.#isShutDown) this.#putBack(service, batch, outcome, nowMs);
    const entry = this.#waiting.get(service);
    if (entry) this.#place(entry, levelOf(entry), nowMs);
    this.#releaseWhenIdle();
    return change;
  }

  /** Fulfilled when nothing waits and nothing is in a pass; at once after the shut-down. */
  whenIdle(): Promise<void> {
    const { promise } = this.#idle;
    this.#releaseWhenIdle();
    return promise;
  }

  /** Takes up nothing more, hands out nothing more, and lets go whoever waits. What is in a pass may still be `done`. */
  shutDown(): void {
    this.#isShutDown = true;
    this.#waiting.clear();
    this.#riders.takeAll();
    this.#loners.takeAll();
    this.#tokenAtMs = undefined;
    this.#options.listener?.taken();
    this.#idle.resolve();
  }

  /** Services that keep failing and are left out of the others' passes. */
  quarantined(): readonly QuarantinedService[] {
    return this.#quarantine.list();
  }

  isQuarantined(service: string): boolean {
    return this.#quarantine.has(service);
  }

  /** What waits, in the order in which it began to. */
  waiting(): readonly WaitingService[] {
    return [...this.#waiting.values()].map((entry) => {
      const { service } = entry;
      const { events } = wholeBatch(entry);
      return {
        service,
        level: levelOf(entry),
        dueMs: this.#dueMs(entry),
        events,
        failures: this.#limiters.failures(service),
      };
    });
  }

  #ownDueMs(): number {
    return Math.min(this.#riders.earliestMs, this.#loners.earliestMs);
  }

  /** Endpoints come and go whatever is wrong with a Service in quarantine; a change of the Service itself may be the cure. */
  #heedsEvents({ service, fresh }: Entry): boolean {
    return fresh !== undefined && (!this.#quarantine.has(service) || concernsService(fresh.kinds));
  }

  #dueMs(entry: Entry): number {
    const eventsMs = entry.fresh && this.#heedsEvents(entry) ? entry.fresh.dueMs : Number.POSITIVE_INFINITY;
    return Math.min(eventsMs, entry.retryMs);
  }

  #place(entry: Entry, level: Level, nowMs: number): void {
    const { service } = entry;
    const rides = !entry.failed || (entry.fresh !== undefined && !this.#quarantine.has(service));
    const [into, outOf] = rides ? [this.#riders, this.#loners] : [this.#loners, this.#riders];
    const beforeMs = this.#ownDueMs();
    const dueMs = this.#dueMs(entry);
    outOf.remove(service);
    into.set(service, dueMs);
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#tokenAtMs ??= this.#bucket.reserve(nowMs);
    if (dueMs < beforeMs || dueMs <= nowMs) this.#options.listener?.dueAt(laterOf(dueMs, this.#tokenAtMs), level);
  }

  #tellNext(nowMs: number): void {
    const heap = this.#riders.earliestMs <= this.#loners.earliestMs ? this.#riders : this.#loners;
    const entry = heap.earliest === undefined ? undefined : this.#waiting.get(heap.earliest);
    if (!entry) return;
    this.#tokenAtMs ??= this.#bucket.reserve(nowMs);
    this.#options.listener?.dueAt(this.nextDueMs(), levelOf(entry));
  }

  #takeLoners(scope: PassScope, nowMs: number): readonly string[] {
    const due = this.#loners.takeDue(nowMs);
    if (scope === 'normal') return due;
    const early = [...this.#waiting.keys()].filter((name) => !this.#quarantine.has(name) && this.#loners.remove(name));
    return [...due, ...early];
  }

  #take(service: string, nowMs: number): TakenService | undefined {
    const entry = this.#waiting.get(service);
    if (!entry) return undefined;
    this.#waiting.delete(service);
    const batch = wholeBatch(entry);
    this.#inPass.set(service, batch);
    const { level, kinds, firstMs, events } = batch;
    const why = whyTaken(entry, this.#options.settings, nowMs);
    this.#options.observer?.taken(service, level, why, nowMs - entry.sinceMs, nowMs);
    const failures = this.#limiters.failures(service);
    return { service, level, kinds: kindsIn(kinds), firstEventMs: firstMs, events, failures, why };
  }

  #judge(service: string, outcome: WorkOutcome, nowMs: number): QuarantineChange | undefined {
    if (outcome === 'failed') return this.#quarantine.failed(service, nowMs);
    if (outcome === 'untried') return undefined;
    this.#limiters.forget(service);
    return this.#quarantine.applied(service);
  }

  #putBack(service: string, batch: Batch, outcome: WorkOutcome, nowMs: number): void {
    const sort = retrySortOf(batch.kinds);
    const dirty = this.#waiting.get(service);
    this.#options.observer?.retried(sort, dirty ? 'joined' : 'new');
    const entry = dirty ?? newEntry(service, undefined, nowMs);
    entry.unapplied = batch;
    entry.failed = outcome === 'failed';
    if (entry.failed) {
      const ownMs = nowMs + this.#limiters.failed(service, sort);
      entry.retryMs = this.#quarantine.has(service) ? gatheredMs(ownMs, this.#options.settings) : ownMs;
    }
    this.#waiting.set(service, entry);
  }

  #releaseWhenIdle(): void {
    if (this.#isShutDown || this.#waiting.size + this.#inPass.size > 0) return;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers<void>();
  }
}
