import { fail, type Result, succeed } from '../model/result.ts';
import type { CancelTimer, Clock } from '../queue/clock.ts';
import { type ApiError, readStatusError } from './client-errors.ts';
import type { ApiTransport } from './client-transport.ts';
import { LineReader } from './line-reader.ts';
import { guardSilence } from './list-watch-silence.ts';
import { parseWatchEvent, type WatchEvent } from './watch-events.ts';

/** One watch request and who hears of it. */
export interface WatchStream {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The server accepted the watch. */
  opened(): void;
  /** The watch has gone on for a second. */
  lasting(): void;
  /** The watch has gone on for 10 s. */
  proven(): void;
  /** Every event but ERROR, in order. */
  event(event: Exclude<WatchEvent, { kind: 'error' }>): void;
}

/** How long the server may take to accept a watch. */
const openMs = 30_000;
/** How long an accepted watch may be silent; bookmarks come about once a minute. */
const silenceMs = 150_000;
/** A watch that ends sooner was not meant to end, whatever it has brought. */
const lastingMs = 1000;
/** A watch that ends sooner, without having come on, was not meant to end. */
const provenMs = 10_000;

/**
 * Follows one watch to its end. It is a success when the server ended it in time or fell silent, so that it is to be continued at once;
 * an error when it could not begin, broke, ended too soon or in the middle of a line, carried an ERROR event (`refused`) or a line that is
 * no event (`malformed`).
 */
export async function followWatch(
  transport: ApiTransport,
  clock: Clock,
  { path, query, signal, opened, lasting, proven, event }: WatchStream,
): Promise<Result<undefined, ApiError>> {
  const guard = guardSilence(clock, signal, openMs);
  const lines = new EventLines(path, query.resourceVersion ?? '', event);
  const unwanted = new AbortController();
  const cancels: CancelTimer[] = [];
  let openedMs: number | undefined;
  const sink = {
    opened: () => {
      openedMs = clock.nowMs();
      guard.heard(silenceMs);
      cancels.push(clock.after(lastingMs, lasting), clock.after(provenMs, proven));
      opened();
    },
    chunk: (bytes: Buffer) => {
      if (guard.signal.aborted || unwanted.signal.aborted) return;
      guard.heard(silenceMs);
      lines.push(bytes);
      if (lines.failure) unwanted.abort();
    },
  };
  const request = { method: 'GET', path, query, signal: AbortSignal.any([guard.signal, unwanted.signal]) } as const;
  const sent = await transport.send(request, sink);
  guard.end();
  for (const cancel of cancels) cancel();
  if (lines.failure) return fail(lines.failure);
  if (guard.fired())
    return openedMs === undefined ? unreachable(path, 'the server did not answer') : succeed(undefined);
  if (!sent.ok) return sent;
  if (lines.isUnfinished) return unreachable(path, 'the watch ended in the middle of a line');
  const ageMs = clock.nowMs() - (openedMs ?? clock.nowMs());
  const endedTooSoon = ageMs < (lines.hasComeOn ? lastingMs : provenMs);
  return endedTooSoon ? unreachable(path, 'the watch ended as soon as it began') : sent;
}

/** Turns the body of a watch into events, up to the first thing that ends it. */
class EventLines {
  failure: ApiError | undefined;
  readonly #reader = new LineReader();
  readonly #path: string;
  readonly #event: WatchStream['event'];
  readonly #from: string;
  /** Of the event before. */
  #version: string;

  constructor(path: string, version: string, event: WatchStream['event']) {
    this.#path = path;
    this.#from = version;
    this.#version = version;
    this.#event = event;
  }

  /** Whether the last line has begun and not ended. */
  get isUnfinished(): boolean {
    return this.#reader.isUnfinished;
  }

  /** Whether the version is another one than at the start. */
  get hasComeOn(): boolean {
    return this.#version !== this.#from;
  }

  push(bytes: Buffer): void {
    const lines = this.#reader.push(bytes);
    if (!lines.ok) this.#fail(`a line is longer than ${lines.error.limitBytes} bytes`);
    for (const line of lines.ok ? lines.value : []) {
      if (this.failure === undefined) this.#take(line);
    }
  }

  #take(line: string): void {
    const parsed = parseWatchEvent(line);
    if (!parsed.ok) this.#fail(parsed.error);
    else if (parsed.value.kind === 'error') this.failure = readStatusError(parsed.value.status);
    else if (isOlder(versionOf(parsed.value), this.#version))
      this.#fail('an event of the watch is older than what came before it');
    else {
      this.#version = versionOf(parsed.value);
      this.#event(parsed.value);
    }
  }

  #fail(message: string): void {
    this.failure = { kind: 'malformed', url: this.#path, message };
  }
}

function unreachable(url: string, message: string): Result<never, ApiError> {
  return fail({ kind: 'unreachable', url, message });
}

function versionOf(event: Exclude<WatchEvent, { kind: 'error' }>): string {
  return event.kind === 'bookmark' ? event.resourceVersion : event.object.resourceVersion;
}

/** Versions are whole numbers without leading zeros; of others nobody knows. Source: kubernetes/enhancements KEP-5504 */
function isOlder(version: string, than: string): boolean {
  if (![version, than].every((each) => /^\d+$/.test(each))) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
