import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Result, succeed } from '../../src/model/result.ts';
import type { Allocator } from './allocator.ts';
import { type ApiObject, isRecord, type JsonRecord, recordOf, withoutUndefined } from './api-object.ts';
import { apiVersionOf, type Resource } from './resources.ts';
import { completeService } from './service-defaults.ts';
import { refuse, type Status } from './status.ts';

/** Which object a request is about; `name` is absent when it is created. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** A request's body as an object of the target, named and placed as the path says. Fails when body and path disagree (400, 422). */
export function readObject(body: unknown, { resource, namespace, name }: Target): Result<ApiObject, Status> {
  if (!isRecord(body)) return refuse(400, 'the object provided is unrecognized (must be of type object)');
  const apiVersion = apiVersionOf(resource);
  if (body.kind !== undefined && (body.kind !== resource.kind || (body.apiVersion ?? apiVersion) !== apiVersion)) {
    return refuse(
      400,
      `${String(body.apiVersion)} ${String(body.kind)} does not match the expected ${apiVersion} ${resource.kind}`,
    );
  }
  const metadata = recordOf(body.metadata);
  const ownName =
    metadata.name ?? name ?? (metadata.generateName && `${String(metadata.generateName)}${randomUUID().slice(0, 5)}`);
  if (typeof ownName !== 'string' || ownName === '') {
    return refuse(
      422,
      `${resource.kind} "" is invalid: metadata.name: Required value: name or generateName is required`,
    );
  }
  if (name !== undefined && ownName !== name)
    return refuse(400, `the name of the object (${ownName}) does not match the name on the URL (${name})`);
  if (namespace !== undefined && (metadata.namespace ?? namespace) !== namespace) {
    return refuse(400, 'the namespace of the provided object does not match the namespace sent on the request');
  }
  const placed =
    resource.scope === 'namespace' ? { namespace: namespace ?? String(metadata.namespace ?? 'default') } : {};
  const { namespace: _, ...otherMetadata } = metadata;
  return succeed({
    ...body,
    apiVersion,
    kind: resource.kind,
    metadata: { ...otherMetadata, name: ownName, ...placed },
  });
}

/** The object as a creation stores it: defaults filled in, metadata set. */
export function prepareCreation(object: ApiObject, allocator: Allocator): ApiObject {
  const complete = completed(object, undefined, allocator);
  const creationTimestamp = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return withMetadata(complete, { ...complete.metadata, uid: randomUUID(), creationTimestamp, generation: 1 });
}

/** The object as an update stores it: what only the server sets comes from `previous`, the generation counts changes of content. */
export function prepareUpdate(object: ApiObject, previous: ApiObject, allocator: Allocator): ApiObject {
  const complete = completed(object, previous, allocator);
  const { uid, creationTimestamp, deletionTimestamp, generation = 1 } = previous.metadata;
  const kept = { uid, creationTimestamp, deletionTimestamp };
  const next = isDeepStrictEqual(contentOf(complete), contentOf(previous)) ? generation : generation + 1;
  return withMetadata(complete, { ...complete.metadata, ...kept, generation: next });
}

/** `previous` with the status of `object`: what a write to the status subresource stores. */
export function prepareStatusUpdate(object: ApiObject, previous: ApiObject): ApiObject {
  return { ...previous, status: object.status };
}

function completed(object: ApiObject, previous: ApiObject | undefined, allocator: Allocator): ApiObject {
  return object.kind === 'Service' ? completeService(object, previous, allocator) : object;
}

function withMetadata(object: ApiObject, metadata: JsonRecord): ApiObject {
  return { ...object, metadata: { ...withoutUndefined(metadata), name: object.metadata.name } };
}

function contentOf({ metadata: _, status: __, ...content }: ApiObject): unknown {
  return content;
}
