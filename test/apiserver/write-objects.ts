import { parse } from 'yaml';
import { type Result, succeed } from '../../src/model/result.ts';
import { type ApiObject, type JsonRecord, recordOf } from './api-object.ts';
import type { Cluster } from './cluster.ts';
import { toServed, toStored } from './event-versions.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { getObject, qualified } from './read-objects.ts';
import type { Resource } from './resources.ts';
import { refuse, type Status, successStatus } from './status.ts';
import { applyMergeKeys, strategicMerge, strategicMergeKeys } from './strategic-merge.ts';
import { prepareCreation, prepareStatusUpdate, prepareUpdate, readObject, type Target } from './write-object.ts';

/** `dry-run` does everything but storing. */
export type Effect = 'stored' | 'dry-run';

/** `everything`: a write that bypasses the rule that main resource and status are written apart. */
export type Part = 'main' | 'status' | 'everything';

/** Stores a new object; 409 when the name is taken. Returns it as it is kept. */
export function createObject(
  cluster: Cluster,
  target: Target,
  body: unknown,
  effect: Effect,
): Result<ApiObject, Status> {
  const read = readObject(body, target);
  if (!read.ok) return read;
  const { resource } = target;
  const object = toStored(read.value, resource);
  const { namespace, name } = object.metadata;
  if (cluster.store.get(resource.plural, namespace, name)) {
    return refuse(409, `${qualified(resource)} "${name}" already exists`, details(resource, name), 'AlreadyExists');
  }
  const prepared = prepareCreation(object, cluster.allocator);
  return succeed(effect === 'stored' ? cluster.store.write(resource.plural, prepared) : prepared);
}

/** Replaces an object or its status; 404 when there is none, 409 when the body's resourceVersion is not the stored one. */
export function updateObject(
  cluster: Cluster,
  target: Target,
  body: unknown,
  part: Part,
  effect: Effect,
): Result<ApiObject, Status> {
  const read = readObject(body, target);
  if (!read.ok) return read;
  const { resource } = target;
  const found = getObject(cluster, target);
  if (!found.ok) return found;
  const object = toStored(read.value, resource);
  const previous = found.value;
  const { name, resourceVersion = '' } = object.metadata;
  if (resourceVersion !== '' && resourceVersion !== previous.metadata.resourceVersion) {
    const reason = 'the object has been modified; please apply your changes to the latest version and try again';
    return refuse(
      409,
      `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${reason}`,
      details(resource, name),
    );
  }
  const prepared = prepare(cluster, target, object, previous, part);
  if (effect === 'dry-run') return succeed(prepared);
  const finished =
    prepared.metadata.deletionTimestamp !== undefined && (prepared.metadata.finalizers ?? []).length === 0;
  return succeed(
    finished ? cluster.store.remove(resource.plural, prepared) : cluster.store.write(resource.plural, prepared),
  );
}

function prepare(
  cluster: Cluster,
  { resource }: Target,
  object: ApiObject,
  previous: ApiObject,
  part: Part,
): ApiObject {
  if (part === 'status') return prepareStatusUpdate(object, previous);
  const keepsStatus = part === 'main' && resource.status === 'subresource';
  return prepareUpdate(keepsStatus ? prepareStatusUpdate(previous, object) : object, previous, cluster.allocator);
}

/** Changes an object as a patch of the given media type says; server-side apply creates it when there is none. */
export function patchObject(
  cluster: Cluster,
  target: Target,
  patch: Patch,
  part: Part,
  effect: Effect,
): Result<ApiObject, Status> {
  const found = getObject(cluster, target);
  if (!found.ok) return patch.mediaType === applyMediaType ? applyToNothing(cluster, target, patch, effect) : found;
  const patched = applyPatch(toServed(found.value, target.resource), patch);
  return patched.ok ? updateObject(cluster, target, patched.value, part, effect) : patched;
}

export interface Patch {
  readonly mediaType: string;
  readonly text: string;
}

const applyMediaType = 'application/apply-patch+yaml';

function applyToNothing(cluster: Cluster, target: Target, patch: Patch, effect: Effect): Result<ApiObject, Status> {
  const body = parsed(patch.text, parse);
  return body.ok ? createObject(cluster, target, body.value, effect) : body;
}

function applyPatch(object: ApiObject, { mediaType, text }: Patch): Result<unknown, Status> {
  const body = parsed(text, mediaType === applyMediaType ? parse : JSON.parse);
  if (!body.ok) return body;
  switch (mediaType) {
    case 'application/merge-patch+json':
      return succeed(mergePatch(object, body.value));
    case 'application/strategic-merge-patch+json':
      return succeed(strategicMerge(object, body.value, strategicMergeKeys(object.kind)));
    case applyMediaType:
      return succeed(strategicMerge(object, body.value, applyMergeKeys(object.kind)));
    case 'application/json-patch+json': {
      const patched = jsonPatch(object, body.value);
      return patched.ok
        ? patched
        : refuse(422, `the server rejected our request due to an error in our request: ${patched.error}`);
    }
    default:
      return refuse(415, `the body of the request was in an unknown format: ${mediaType}`);
  }
}

/** The text read by `read`; 400 when it cannot be. */
export function parsed(text: string, read: (text: string) => unknown): Result<unknown, Status> {
  try {
    return succeed(read(text));
  } catch (error) {
    return refuse(400, `error decoding the request: ${String(error)}`);
  }
}

/** Deletes an object, or marks it when it has finalizers. `body` may hold DeleteOptions with preconditions (409 when they fail). */
export function deleteObject(
  cluster: Cluster,
  target: Target,
  body: unknown,
  effect: Effect,
): Result<Status | ApiObject, Status> {
  const found = getObject(cluster, target);
  if (!found.ok) return found;
  const { resource } = target;
  const { name, uid, resourceVersion, finalizers = [] } = found.value.metadata;
  const preconditions: JsonRecord = recordOf(recordOf(body).preconditions);
  const met =
    (preconditions.uid ?? uid) === uid && (preconditions.resourceVersion ?? resourceVersion) === resourceVersion;
  if (!met)
    return refuse(
      409,
      `Precondition failed: ${qualified(resource)} "${name}" has another uid or version`,
      details(resource, name),
    );
  const done = successStatus({ ...details(resource, name), uid });
  if (effect === 'dry-run') return succeed(done);
  if (finalizers.length > 0) return succeed(cluster.store.write(resource.plural, markDeleted(found.value)));
  cluster.store.remove(resource.plural, found.value);
  return succeed(done);
}

function markDeleted(object: ApiObject): ApiObject {
  const deletionTimestamp = object.metadata.deletionTimestamp ?? new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return { ...object, metadata: { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 } };
}

function details({ group, plural }: Resource, name: string): JsonRecord {
  return { name, group, kind: plural };
}
