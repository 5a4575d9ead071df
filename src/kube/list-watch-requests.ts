import { fail, type Result } from '../model/result.ts';
import type { Clock } from '../queue/clock.ts';
import type { ApiError } from './client-errors.ts';
import { type ApiTransport, callList } from './client-transport.ts';
import type { RequestPace } from './list-watch-pace.ts';
import { type CompleteList, type FetchPage, readPages } from './list-watch-pages.ts';
import { guardSilence } from './list-watch-silence.ts';
import type { RawObject } from './watch-events.ts';

/** Which objects are listed and watched. */
export interface WatchedResource {
  /** What logs and metrics call it: `services`. */
  readonly name: string;
  /** Path of the collection: `/api/v1/services`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListRequest {
  readonly transport: ApiTransport;
  readonly resource: WatchedResource;
  readonly clock: Clock;
  readonly pace: RequestPace;
  readonly signal: AbortSignal;
}

type Query = Readonly<Record<string, string>>;

/** How long the server may be silent while it answers a list. */
const SILENCE_MS = 60_000;
/** Of a list that comes whole, as the first one may, or of a page: one of 500 EndpointSlices with 1,000 endpoints each takes half of it. */
const LIST_LIMIT_BYTES = 256 * 1024 * 1024;

/**
 * Asks for a list of this version, as {@link readPages} does. Its first request has had its turn; further pages need none, but count when they
 * come to nothing, and a list that is read again in one piece waits for one.
 */
export async function requestList<S>(
  request: ListRequest,
  version: '0' | '',
  keep: (object: RawObject) => S,
): Promise<Result<CompleteList<S>, ApiError>> {
  const { pace, signal } = request;
  let uncounted = -1;
  const countPages = () => {
    for (; uncounted > 0; uncounted -= 1) pace.count();
  };
  const fetchPage: FetchPage = async (query, item) => {
    if (!('limit' in query)) {
      countPages();
      await pace.turn(signal);
    } else uncounted += 1;
    return fetchList(request, query, item);
  };
  const list = await readPages(fetchPage, version, keep);
  if (!list.ok) countPages();
  return list;
}

async function fetchList(
  { transport, clock, resource, signal }: ListRequest,
  query: Query,
  item: (json: unknown) => void,
): Promise<Result<unknown, ApiError>> {
  const { path } = resource;
  const guard = guardSilence(clock, signal, SILENCE_MS);
  const request = { method: 'GET', path, query: { ...selectors(resource), ...query }, signal: guard.signal } as const;
  const fetched = await callList(transport, request, item, () => guard.heard(SILENCE_MS), LIST_LIMIT_BYTES);
  guard.end();
  return guard.fired() ? fail({ kind: 'unreachable', url: path, message: 'the server fell silent' }) : fetched;
}

/** What a request for the resource names besides its path. */
export function selectors({ labelSelector, fieldSelector }: WatchedResource): Query {
  return { ...(labelSelector ? { labelSelector } : {}), ...(fieldSelector ? { fieldSelector } : {}) };
}
