import type { CancelTimer, Clock } from '../queue/clock.ts';
import { TokenBucket } from '../queue/token-bucket.ts';
import {
  createBody,
  type EventSource,
  eventName,
  type NewEvent,
  type ReportedEvent,
  seriesBody,
  seriesKey,
  subjectKey,
} from './events-body.ts';

/** Where Events are stored; neither function ever rejects. */
export interface EventStore {
  create(namespace: string, body: object): Promise<EventOutcome>;
  /** Changes fields of an Event by a merge patch. */
  patch(namespace: string, name: string, body: object): Promise<EventOutcome>;
}

export type EventOutcome =
  | { readonly kind: 'stored' }
  /** The Event to change is no longer there. */
  | { readonly kind: 'gone' }
  /** Trying again is of no use. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'away'; readonly message: string; readonly retryAfterMs?: number };

export interface EventRecorderOptions {
  readonly store: EventStore;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly source: EventSource;
  /** Events began to get lost; not repeated until one is stored. */
  readonly trouble: (message: string) => void;
  readonly recovered: () => void;
}

/** What happens again within this time belongs to the same series. */
const SERIES_MS = 6 * 60_000;
/** A series that goes on is written again after this time. */
const REFRESH_MS = 30 * 60_000;
/** New Events about one object. */
const OBJECT_LIMIT = { perSecond: 1 / 300, burst: 25 };
const RETRY_MS = 10_000;
const TRIES = 12;
/** Series that are kept, and objects whose limits are; what is beyond is dropped. */
const MOST_SERIES = 1000;
const MOST_OBJECTS = 4096;

interface Series extends NewEvent {
  count: number;
  lastMs: number;
  lastWallMs: number;
  /** Counts in the API; 0: not there yet. */
  written: number;
  writtenMs: number;
}

/**
 * Reports Events without anybody waiting for it. The same thing again is counted in the first Event's series, whose count is written at the
 * second time, every half hour, and when it is over. Too many different things about one object are dropped, as is what cannot be stored
 * after some tries.
 * Source: k8s.io/client-go tools/events/event_broadcaster.go, tools/record/events_cache.go (spam filter)
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series = new Map<string, Series>();
  readonly #limits = new Map<string, TokenBucket>();
  /** Keys of series to be written, the oldest first. */
  readonly #due = new Set<string>();
  #dropped = 0;
  #inTrouble = false;
  #writing = false;
  #work: Promise<void> = Promise.resolve();
  /** To be written once more although it is being written. */
  readonly #again = new Set<string>();
  #stopped = false;
  #cancelSweep: CancelTimer | undefined;
  #cancelRetry: CancelTimer = () => {};

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Events that were not stored. */
  get dropped(): number {
    return this.#dropped;
  }

  report(event: ReportedEvent): void {
    if (this.#stopped) return;
    const { clock, wallMs } = this.#options;
    const [key, nowMs] = [seriesKey(event), clock.nowMs()];
    const known = this.#series.get(key);
    if (known) {
      known.lastMs = nowMs;
      if (event.sameOnEveryNode) return;
      known.count += 1;
      known.lastWallMs = wallMs();
      if (known.count === 2 || nowMs - known.writtenMs >= REFRESH_MS) this.#write(key);
      return;
    }
    if (this.#series.size >= MOST_SERIES || !this.#isAllowed(event, nowMs)) {
      this.#dropped += 1;
      return;
    }
    this.#series.set(key, newSeries(event, nowMs, wallMs()));
    this.#armSweep();
    this.#write(key);
  }

  /** Resolves when nothing waits to be stored. */
  stored(): Promise<void> {
    return this.#work;
  }

  /** Nothing is stored any more. */
  stop(): void {
    this.#stopped = true;
    this.#cancelSweep?.();
    this.#cancelRetry();
    this.#due.clear();
  }

  #isAllowed(event: ReportedEvent, nowMs: number): boolean {
    const subject = subjectKey(event);
    const bucket = this.#limits.get(subject) ?? new TokenBucket(OBJECT_LIMIT, nowMs);
    this.#limits.set(subject, bucket);
    const [oldest] = this.#limits.keys();
    if (this.#limits.size > MOST_OBJECTS && oldest !== undefined) this.#limits.delete(oldest);
    return bucket.take(nowMs);
  }

  #write(key: string): void {
    if (this.#due.has(key)) this.#again.add(key);
    this.#due.add(key);
    if (!this.#writing) this.#work = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    for (let failures = 0; ; ) {
      const [key] = this.#due;
      if (key === undefined || this.#stopped) break;
      this.#again.delete(key);
      const outcome = await this.#writeOne(key);
      const isLast = failures + 1 >= TRIES;
      if (outcome.kind === 'away') this.#tell(outcome.message);
      if (outcome.kind === 'away' && !isLast) {
        failures += 1;
        await this.#pause(Math.max(RETRY_MS, outcome.retryAfterMs ?? 0));
        continue;
      }
      failures = 0;
      if (outcome.kind === 'away') this.#drop(key);
      if (outcome.kind !== 'gone' && !this.#again.has(key)) this.#due.delete(key);
    }
    this.#writing = false;
  }

  async #writeOne(key: string): Promise<EventOutcome> {
    const series = this.#series.get(key);
    if (!series) return { kind: 'stored' };
    const { store, source, clock } = this.#options;
    const { event, name, written, count, lastWallMs } = series;
    const namespace = event.regarding.namespace ?? 'default';
    const outcome =
      written === 0
        ? await store.create(namespace, createBody(series, source))
        : await store.patch(namespace, name, seriesBody(count, lastWallMs));
    if (outcome.kind === 'gone') this.#series.set(key, { ...series, name: eventName(event), written: 0 });
    if (outcome.kind === 'refused') {
      this.#drop(key);
      this.#tell(outcome.message);
    }
    if (outcome.kind === 'stored') {
      series.written = count;
      series.writtenMs = clock.nowMs();
      if (this.#inTrouble) this.#options.recovered();
      this.#inTrouble = false;
    }
    return outcome;
  }

  #drop(key: string): void {
    this.#dropped += 1;
    this.#series.delete(key);
  }

  #tell(message: string): void {
    if (!this.#inTrouble && !this.#stopped) this.#options.trouble(message);
    this.#inTrouble = true;
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(ms, resolve);
    this.#cancelRetry = () => {
      cancel();
      resolve();
    };
    return promise;
  }

  #armSweep(): void {
    this.#cancelSweep ??= this.#options.clock.after(SERIES_MS, () => {
      this.#cancelSweep = undefined;
      this.#sweep();
      if (this.#series.size > 0) this.#armSweep();
    });
  }

  /** Forgets series that are over, once their last count is written. */
  #sweep(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const [key, { lastMs, count, written }] of this.#series) {
      if (nowMs - lastMs < SERIES_MS || this.#due.has(key)) continue;
      if (count > written) this.#write(key);
      else this.#series.delete(key);
    }
  }
}

function newSeries(event: ReportedEvent, nowMs: number, wallMs: number): Series {
  const times = { firstWallMs: wallMs, lastWallMs: wallMs, lastMs: nowMs, writtenMs: nowMs };
  return { event, name: eventName(event), ...times, count: 1, written: 0 };
}
