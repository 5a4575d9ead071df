import { parse } from 'yaml';
import type { Result } from '../../src/model/result.ts';
import type { ApiObject } from './api-object.ts';
import type { Cluster } from './cluster.ts';
import { discoveryDocument } from './discovery.ts';
import { toServed } from './event-versions.ts';
import type { WatchOptions } from './open-watch.ts';
import { openApiDocument } from './openapi.ts';
import { getObject, listDocument, listObjects } from './read-objects.ts';
import { jsonReply, type Reply, statusReply } from './replies.ts';
import { parseRoute, type Route, verbOf } from './routes.ts';
import { readSelection } from './selection.ts';
import { failureStatus, type Status, successStatus } from './status.ts';
import { metadataOf, tableOf, viewOf } from './tables.ts';
import { createObject, deleteObject, type Effect, parsed, patchObject, updateObject } from './write-objects.ts';

/** What is read of a request to answer it. */
export interface Question {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Value of the Accept header. */
  readonly accept: string;
  /** Media type of the body, without parameters. */
  readonly contentType: string;
  readonly body: string;
}

/** The answer to a request, with its effect on the cluster carried out. */
export function answer(cluster: Cluster, question: Question): Reply {
  const route = parseRoute(question.path);
  if (route.kind === 'resource') return answerResource(cluster, route, question);
  const { path, accept } = question;
  if (['/healthz', '/livez', '/readyz'].includes(path)) return { kind: 'text', status: 200, body: 'ok' };
  if (path === '/openapi/v2' && !/json|\*\/\*|^$/.test(accept.replace(/;[^,]*/g, ''))) {
    return statusReply(failureStatus(406, 'only application/json is served'));
  }
  const document = discoveryDocument(path) ?? openApiDocument(path);
  return document === undefined
    ? statusReply(failureStatus(404, 'the server could not find the requested resource'))
    : jsonReply(200, document);
}

type ResourceRoute = Route & { readonly kind: 'resource' };

function answerResource(cluster: Cluster, route: ResourceRoute, question: Question): Reply {
  const { resource, part } = route;
  const { query, body } = question;
  const effect: Effect = query.get('dryRun') === 'All' ? 'dry-run' : 'stored';
  const verb = verbOf(question.method, route, query);
  if (!resource.verbs.includes(verb))
    return statusReply(failureStatus(405, `the server does not allow this method on the requested resource`));
  switch (verb) {
    case 'get':
      return objectReply(200, getObject(cluster, route), route, question);
    case 'list':
      return answerList(cluster, route, question);
    case 'watch':
      return answerWatch(route, question);
    case 'create':
      return written(readBody(question), (value) =>
        objectReply(201, createObject(cluster, route, value, effect), route, question),
      );
    case 'update':
      return written(readBody(question), (value) =>
        objectReply(200, updateObject(cluster, route, value, part, effect), route, question),
      );
    case 'patch':
      return objectReply(
        200,
        patchObject(cluster, route, { mediaType: question.contentType, text: body }, part, effect),
        route,
        question,
      );
    case 'delete':
      return written(readBody(question), (value) => plainReply(deleteObject(cluster, route, value, effect)));
    default:
      return answerDeleteCollection(cluster, route, question, effect);
  }
}

function answerList(cluster: Cluster, route: ResourceRoute, { query, accept }: Question): Reply {
  const selection = readSelection(route, query);
  if (!selection.ok) return statusReply(selection.error);
  const page = listObjects(cluster, selection.value, query);
  if (!page.ok) return statusReply(page.error);
  const { items, ...metadata } = page.value;
  const served = items.map((object) => toServed(object, route.resource));
  switch (viewOf(accept)) {
    case 'table':
      return jsonReply(200, tableOf(route.resource.kind, items, metadata, query.get('includeObject')));
    case 'metadata':
      return jsonReply(200, {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
        items: served.map(metadataOf),
      });
    default:
      return jsonReply(200, listDocument(route.resource, { ...page.value, items: served }));
  }
}

function answerWatch(route: ResourceRoute, question: Question): Reply {
  const { query } = question;
  if (query.has('sendInitialEvents')) {
    return statusReply(failureStatus(422, 'sendInitialEvents: Forbidden: the WatchList feature is not enabled'));
  }
  const selection = readSelection(route, query);
  if (!selection.ok) return statusReply(selection.error);
  const version = Number(query.get('resourceVersion') || 0);
  const options: WatchOptions = {
    selection: selection.value,
    from: version === 0 ? undefined : version,
    bookmarks: ['1', 'true'].includes(query.get('allowWatchBookmarks') ?? '') ? 'wanted' : 'unwanted',
    timeoutMs: Number(query.get('timeoutSeconds') || 3600) * 1000,
    show: (object) => shown(object, route, question),
  };
  return { kind: 'watch', options };
}

function answerDeleteCollection(cluster: Cluster, route: ResourceRoute, { query }: Question, effect: Effect): Reply {
  const selection = readSelection(route, query);
  if (!selection.ok) return statusReply(selection.error);
  for (const { metadata } of cluster.store.list(route.resource.plural).filter(selection.value.selects)) {
    deleteObject(cluster, { ...route, namespace: metadata.namespace, name: metadata.name }, undefined, effect);
  }
  return jsonReply(200, successStatus({ kind: route.resource.plural }));
}

function objectReply(
  status: number,
  result: Result<ApiObject, Status>,
  route: ResourceRoute,
  question: Question,
): Reply {
  return result.ok ? jsonReply(status, shown(result.value, route, question)) : statusReply(result.error);
}

function plainReply(result: Result<unknown, Status>): Reply {
  return result.ok ? jsonReply(200, result.value) : statusReply(result.error);
}

function shown(object: ApiObject, { resource }: ResourceRoute, { accept, query }: Question): unknown {
  switch (viewOf(accept)) {
    case 'table':
      return tableOf(
        resource.kind,
        [object],
        { resourceVersion: object.metadata.resourceVersion },
        query.get('includeObject'),
      );
    case 'metadata':
      return metadataOf(object);
    default:
      return toServed(object, resource);
  }
}

/** Bodies may be YAML, of which JSON is a part; protobuf is not understood (415). */
function readBody({ body, contentType }: Question): Result<unknown, Status> {
  if (contentType.includes('protobuf'))
    return { ok: false, error: failureStatus(415, `the body is in an unknown format: ${contentType}`) };
  if (body === '') return { ok: true, value: undefined };
  return parsed(body, contentType.includes('yaml') ? parse : JSON.parse);
}

function written(body: Result<unknown, Status>, write: (value: unknown) => Reply): Reply {
  return body.ok ? write(body.value) : statusReply(body.error);
}
