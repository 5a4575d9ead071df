import { fail, type Result, succeed } from '../model/result.ts';
import type { ApiError } from './client-errors.ts';
import { metadataOf, type RawObject, readRawObject } from './watch-events.ts';

/** Asks for one page of a list with these query parameters besides the selectors; for the whole of it without `limit`. */
export type FetchPage = (query: Readonly<Record<string, string>>) => Promise<Result<unknown, ApiError>>;

/** A complete list. */
export interface CompleteList<S> {
  /** The version to watch from. */
  readonly resourceVersion: string;
  readonly objects: ReadonlyMap<string, S>;
}

const pageLimit = '500';

/**
 * Reads all pages of a list; each object is turned into what is kept of it as its page arrives. `version`: `'0'` takes whatever the
 * server has at hand (and comes whole), `''` the newest state. When the pages expire on the way the list is read again in one piece.
 * Source: k8s.io/client-go tools/pager
 */
export async function readPages<S>(
  fetchPage: FetchPage,
  version: '0' | '',
  keep: (object: RawObject) => S,
): Promise<Result<CompleteList<S>, ApiError>> {
  const start = version === '' ? {} : { resourceVersion: version };
  const objects = new Map<string, S>();
  for (let query: Readonly<Record<string, string>> = { limit: pageLimit, ...start }; ; ) {
    const fetched = await fetchPage(query);
    if (!fetched.ok && isExpiredPage(query, fetched.error)) return readWhole(fetchPage, keep);
    if (!fetched.ok) return fetched;
    const page = readPage(fetched.value);
    if (!page.ok) return page;
    const { size } = objects;
    for (const object of page.value.objects) objects.set(object.key, keep(object));
    const { next } = page.value;
    if (next !== '' && objects.size === size) return malformed('its pages have no end');
    if (next === '') return succeed({ resourceVersion: page.value.resourceVersion, objects });
    query = { limit: pageLimit, continue: next };
  }
}

async function readWhole<S>(
  fetchPage: FetchPage,
  keep: (object: RawObject) => S,
): Promise<Result<CompleteList<S>, ApiError>> {
  const fetched = await fetchPage({});
  if (!fetched.ok) return fetched;
  const page = readPage(fetched.value);
  if (!page.ok) return page;
  const objects = new Map(page.value.objects.map((object) => [object.key, keep(object)]));
  return succeed({ resourceVersion: page.value.resourceVersion, objects });
}

function isExpiredPage(query: Readonly<Record<string, string>>, error: ApiError): boolean {
  return 'continue' in query && error.kind === 'refused' && error.status === 410;
}

interface Page {
  readonly resourceVersion: string;
  /** Token of the next page; `''` on the last. */
  readonly next: string;
  readonly objects: readonly RawObject[];
}

function readPage(json: unknown): Result<Page, ApiError> {
  const { resourceVersion, continue: next } = metadataOf(json);
  const items = typeof json === 'object' && json !== null && 'items' in json ? (json.items ?? []) : undefined;
  if (typeof resourceVersion !== 'string' || resourceVersion === '' || !Array.isArray(items))
    return malformed('it is not a list');
  const objects = items.flatMap((item) => readRawObject(item) ?? []);
  if (objects.length < items.length) return malformed('an item has no complete metadata');
  return succeed({ resourceVersion, next: typeof next === 'string' ? next : '', objects });
}

function malformed(message: string): Result<never, ApiError> {
  return fail({ kind: 'malformed', url: 'a page of the list', message });
}
