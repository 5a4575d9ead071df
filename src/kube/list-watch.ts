import type { Decoded } from '../model/problem.ts';
import { type Result, succeed } from '../model/result.ts';
import type { CancelTimer, Clock } from '../queue/clock.ts';
import { type ApiError, describeApiError, isServerFault, isStaleVersion } from './client-errors.ts';
import type { ApiTransport } from './client-transport.ts';
import { Backoff } from './list-watch-backoff.ts';
import { type CacheHandler, ObjectCache, type RawTap } from './list-watch-cache.ts';
import { ListWatchCounter, type ListWatchCounts, type RelistReason } from './list-watch-counts.ts';
import { RequestPace } from './list-watch-pace.ts';
import { requestList, selectors, type WatchedResource } from './list-watch-requests.ts';
import { followWatch } from './list-watch-stream.ts';
import type { WatchEvent } from './watch-events.ts';

/** Who is told. What throws in here is a bug and ends the process. */
export interface ListWatchHandler<T> extends CacheHandler<T> {
  /** Called once, when the first complete list was passed on, an empty one too. */
  listed(): void;
  /** Requests began to fail, or fail in a way that was not told of since; the next attempt is in `retryInMs` or later. */
  trouble(error: ApiError, retryInMs: number): void;
  /** After {@link trouble} a watch has gone on for 10 s. */
  recovered(): void;
}

export interface ListWatchOptions<T> {
  readonly transport: ApiTransport;
  readonly resource: WatchedResource;
  /** Reads an object as JSON gives it; items of lists have neither kind nor apiVersion. */
  readonly decode: (json: unknown) => Decoded<T>;
  readonly handler: ListWatchHandler<T>;
  readonly tap?: RawTap | undefined;
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Shared by all that ask the same server; absent: this one is alone. */
  readonly pace?: RequestPace;
  /** How often the handler is told of every object once more; absent: never. */
  readonly resyncMs?: number | undefined;
}

/**
 * Keeps a copy of one resource up to date and tells of every change, until it is stopped: lists, then watches from the list's version on,
 * again and again. Whatever fails is retried, later and later; the copy is never emptied by a failure.
 * Source: k8s.io/client-go tools/cache/reflector.go
 */
export class ListWatch<T> {
  readonly #options: ListWatchOptions<T>;
  readonly #cache: ObjectCache<T>;
  readonly #backoff: Backoff;
  /** Of lists that are made because a watch's version was gone. */
  readonly #expiries: Backoff;
  readonly #pace: RequestPace;
  readonly #counter: ListWatchCounter;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  /** Version to watch from; undefined: list first. */
  #version: string | undefined;
  #listVersion: '0' | '' = '0';
  #listed = false;
  #cancelResync: CancelTimer = () => {};
  /** What was told of since requests began to fail; empty while all is well. */
  readonly #troubles = new Set<string>();
  /** Whether a watch's version was gone since all was well. */
  #hasExpired = false;

  constructor(options: ListWatchOptions<T>) {
    this.#options = options;
    this.#cache = new ObjectCache(options.decode, options.handler, options.tap);
    this.#backoff = new Backoff(options.clock, options.random);
    this.#expiries = new Backoff(options.clock, options.random);
    this.#pace = options.pace ?? new RequestPace(options.clock);
    this.#counter = new ListWatchCounter(() => options.clock.nowMs());
  }

  /** Begins; harmless when repeated. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends for good; resolves when the last request is over. The handler is not called any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelResync();
    await this.#running;
  }

  get name(): string {
    return this.#options.resource.name;
  }

  /** What was done so far; a snapshot. */
  get counts(): ListWatchCounts {
    return this.#counter.read();
  }

  /** The uid of the object, `namespace/name`; `''` when it is not known. */
  uid(key: string): string {
    return this.#cache.uid(key);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    this.#pace.count();
    while (!signal.aborted) {
      const version = this.#version;
      const done = version === undefined ? await this.#list() : await this.#watch(version);
      if (signal.aborted) return;
      if (!done.ok) await this.#waitAfter(done.error);
      else if (version === undefined) this.#pace.count();
      else await this.#pace.turn(signal);
    }
  }

  async #list(): Promise<Result<undefined, ApiError>> {
    const request = { ...this.#options, pace: this.#pace, signal: this.#stopping.signal };
    const list = await requestList(request, this.#listVersion, (object) => this.#cache.read(object));
    if (!list.ok) return list;
    if (this.#stopping.signal.aborted) return succeed(undefined);
    this.#counter.listed(this.#cache.replace(list.value.objects));
    this.#version = list.value.resourceVersion;
    this.#listVersion = '';
    if (this.#listed) return succeed(undefined);
    this.#listed = true;
    this.#options.handler.listed();
    this.#armResync();
    return succeed(undefined);
  }

  #watch(version: string): Promise<Result<undefined, ApiError>> {
    const { transport, clock, random, resource } = this.#options;
    const timeoutSeconds = String(Math.floor(300 + random() * 300));
    const position = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: version, timeoutSeconds };
    return followWatch(transport, clock, {
      path: resource.path,
      query: { ...selectors(resource), ...position },
      signal: this.#stopping.signal,
      opened: () => this.#counter.watched(),
      lasting: () => this.#pace.lasting(),
      proven: () => this.#recover(),
      event: (event) => this.#take(event),
    });
  }

  #take(event: Exclude<WatchEvent, { kind: 'error' }>): void {
    this.#counter.took(event.kind === 'bookmark' ? 'bookmarks' : 'events');
    switch (event.kind) {
      case 'present':
        this.#cache.put(event.object.key, this.#cache.read(event.object));
        this.#version = event.object.resourceVersion;
        return;
      case 'deleted':
        this.#cache.remove(event.object.key);
        this.#version = event.object.resourceVersion;
        return;
      default:
        this.#version = event.resourceVersion;
    }
  }

  /**
   * A version that the server does not have, or an answer that makes no sense, calls for a new list; anything else for another try. The
   * first version that is gone after an outage says that the server is back, and is no reason to wait.
   */
  async #waitAfter(error: ApiError): Promise<void> {
    this.#counter.failed(error);
    const stale = isStaleVersion(error);
    const hasExpired = stale && this.#version !== undefined;
    if (stale || error.kind === 'malformed') this.#listAnew(stale ? 'expired' : 'malformed');
    const isBack = stale && this.#pace.expired();
    const leastMs = error.kind === 'refused' ? (error.retryAfterMs ?? 0) : 0;
    const delayMs = isBack ? leastMs : (hasExpired ? this.#expiries : this.#backoff).next(leastMs);
    if (!hasExpired || this.#hasExpired) this.#report(error, delayMs);
    this.#hasExpired ||= hasExpired;
    const cause = isServerFault(error) ? 'server' : 'request';
    const after = await this.#pace.wait({ delayMs, leastMs, cause }, this.#stopping.signal);
    if (after === 'list-anew' && this.#version !== undefined) this.#listAnew('expired');
  }

  #listAnew(reason: RelistReason): void {
    this.#version = undefined;
    this.#listVersion = '';
    this.#counter.relists(reason);
  }

  #armResync(): void {
    const { resyncMs, clock } = this.#options;
    if (resyncMs === undefined || this.#stopping.signal.aborted) return;
    this.#cancelResync = clock.after(resyncMs, () => {
      this.#cache.repeat();
      this.#armResync();
    });
  }

  #report(error: ApiError, retryInMs: number): void {
    const refused = error.kind === 'refused' ? `refused ${error.status}` : error.kind;
    const way = error.kind === 'unreachable' ? describeApiError(error) : refused;
    if (this.#troubles.has(way)) return;
    this.#troubles.add(way);
    this.#options.handler.trouble(error, retryInMs);
  }

  #recover(): void {
    this.#hasExpired = false;
    if (this.#troubles.size === 0) return;
    this.#troubles.clear();
    this.#options.handler.recovered();
  }
}
