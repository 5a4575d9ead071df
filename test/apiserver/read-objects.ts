import { fail, type Result, succeed } from '../../src/model/result.ts';
import { type ApiObject, keyOfObject, recordOf } from './api-object.ts';
import type { Cluster } from './cluster.ts';
import { listNamespaces, namespaceObject } from './namespaces.ts';
import { apiVersionOf, type Resource } from './resources.ts';
import type { Selection } from './selection.ts';
import { expired, failureStatus, refuse, type Status } from './status.ts';
import type { Target } from './write-object.ts';

/** One page of a list. */
export interface Page {
  readonly resourceVersion: string;
  readonly items: readonly ApiObject[];
  /** Token of the next page; absent on the last. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The object in the form it is kept in; 404 when there is none. */
export function getObject({ store }: Cluster, { resource, namespace, name = '' }: Target): Result<ApiObject, Status> {
  if (resource.plural === 'namespaces') return succeed(namespaceObject(name));
  const object = store.get(resource.plural, namespace, name);
  return object ? succeed(object) : notFound(resource, name);
}

function notFound(resource: Resource, name: string): Result<never, Status> {
  return refuse(404, `${qualified(resource)} "${name}" not found`, {
    name,
    group: resource.group,
    kind: resource.plural,
  });
}

/** `services`, `endpointslices.discovery.k8s.io`: what messages call a resource. */
export function qualified({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/**
 * The page that `limit`, `continue`, `resourceVersion` and `resourceVersionMatch` ask for. All pages of one list show the state at the
 * version of the first; 410 when that is no longer kept, 504 when the version asked for is not reached yet. As on the real server a list
 * with `resourceVersion=0` ignores `limit`. Source: k8s.io/apiserver pkg/storage/cacher
 */
export function listObjects(
  cluster: Cluster,
  { resource, selects }: Selection,
  query: URLSearchParams,
): Result<Page, Status> {
  const start = readStart(cluster, query);
  if (!start.ok) return start;
  const { revision, after } = start.value;
  const all =
    resource.plural === 'namespaces' ? listNamespaces(cluster) : cluster.store.listAt(resource.plural, revision);
  if (all === undefined)
    return fail(expired('The provided continue parameter is too old to display a consistent list result.'));
  const chosen = all.filter((object) => selects(object) && (after === undefined || keyOfObject(object) > after));
  const limit = query.get('resourceVersion') === '0' ? 0 : Number(query.get('limit') ?? 0);
  if (!(limit > 0) || chosen.length <= limit) return succeed({ resourceVersion: String(revision), items: chosen });
  const items = chosen.slice(0, limit);
  const last = items.at(-1);
  const token = Buffer.from(JSON.stringify({ revision, after: last && keyOfObject(last) })).toString('base64url');
  return succeed({
    resourceVersion: String(revision),
    items,
    continue: token,
    remainingItemCount: chosen.length - limit,
  });
}

interface Start {
  readonly revision: number;
  /** Key of the last object of the page before. */
  readonly after: string | undefined;
}

function readStart({ history }: Cluster, query: URLSearchParams): Result<Start, Status> {
  const token = query.get('continue');
  if (token) return readToken(token);
  const asked = Number(query.get('resourceVersion') || 0);
  if (!Number.isInteger(asked)) return refuse(400, `resourceVersion: Invalid value: "${query.get('resourceVersion')}"`);
  if (asked > history.revision) {
    const details = {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    };
    return fail(failureStatus(504, `Too large resource version: ${asked}, current: ${history.revision}`, details));
  }
  const match = query.get('resourceVersionMatch');
  const exact = asked > 0 && (match === 'Exact' || (match === null && Number(query.get('limit') ?? 0) > 0));
  if (exact && history.since(asked) === undefined)
    return fail(expired('The resourceVersion for the provided list is too old.'));
  return succeed({ revision: exact ? asked : history.revision, after: undefined });
}

function readToken(token: string): Result<Start, Status> {
  try {
    const { revision, after } = recordOf(JSON.parse(Buffer.from(token, 'base64url').toString()));
    if (typeof revision === 'number' && typeof after === 'string') return succeed({ revision, after });
  } catch {
    // The token is not one of ours, which the answer below says.
  }
  return refuse(400, 'continue key is not valid');
}

/** The list object that carries a page; as on the real server its items have no kind and apiVersion of their own. */
export function listDocument(resource: Resource, { items, ...metadata }: Page): unknown {
  const bare = items.map(({ kind: _, apiVersion: __, ...rest }) => rest);
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items: bare };
}
