import { fail, type Result, succeed } from '../model/result.ts';
import type { ApiError } from './client-errors.ts';
import { metadataOf, type RawObject, readRawObject } from './watch-events.ts';

/**
 * Asks for one page of a list with these query parameters besides the selectors; for the whole of it without `limit`. Each item is passed on as
 * it arrives, and left out of the answer.
 */
export type FetchPage = (
  query: Readonly<Record<string, string>>,
  item: (json: unknown) => void,
) => Promise<Result<unknown, ApiError>>;

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
    const { size } = objects;
    const page = await readPage(fetchPage, query, objects, keep);
    if (!page.ok && isExpiredPage(query, page.error)) return readWhole(fetchPage, keep);
    if (!page.ok) return page;
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
  const objects = new Map<string, S>();
  const page = await readPage(fetchPage, {}, objects, keep);
  return page.ok ? succeed({ resourceVersion: page.value.resourceVersion, objects }) : page;
}

function isExpiredPage(query: Readonly<Record<string, string>>, error: ApiError): boolean {
  return 'continue' in query && error.kind === 'refused' && error.status === 410;
}

interface Page {
  readonly resourceVersion: string;
  /** Token of the next page; `''` on the last. */
  readonly next: string;
}

/** Puts what is kept of each object where the others are. */
async function readPage<S>(
  fetchPage: FetchPage,
  query: Readonly<Record<string, string>>,
  into: Map<string, S>,
  keep: (object: RawObject) => S,
): Promise<Result<Page, ApiError>> {
  let isComplete = true;
  const fetched = await fetchPage(query, (item) => {
    const object = readRawObject(item);
    if (object) into.set(object.key, keep(object));
    else isComplete = false;
  });
  if (!fetched.ok) return fetched;
  const json = fetched.value;
  const { resourceVersion, continue: next } = metadataOf(json);
  const others = typeof json === 'object' && json !== null && 'items' in json ? (json.items ?? []) : undefined;
  if (typeof resourceVersion !== 'string' || resourceVersion === '' || !Array.isArray(others))
    return malformed('it is not a list');
  if (!isComplete || others.length > 0) return malformed('an item has no complete metadata');
  return succeed({ resourceVersion, next: typeof next === 'string' ? next : '' });
}

function malformed(message: string): Result<never, ApiError> {
  return fail({ kind: 'malformed', url: 'a page of the list', message });
}
