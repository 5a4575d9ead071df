import { type ApiObject, recordOf } from './api-object.ts';
import type { Cluster } from './cluster.ts';
import { findResourceOfKind, type Resource } from './resources.ts';
import { createObject, updateObject } from './write-objects.ts';

/** Names one object; `namespace` is left out for cluster-scoped ones. */
export interface ObjectReference {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** The resource of a kind; throws when the server has none. */
export function resourceOf(kind: string, apiVersion?: string): Resource {
  const resource = findResourceOfKind(kind, apiVersion);
  if (resource === undefined) throw new Error(`the API server has no kind ${apiVersion ?? ''} ${kind}`);
  return resource;
}

/** Creates or replaces an object without regard to its resourceVersion, and with its status; throws when it is malformed. */
export function applyDirectly(cluster: Cluster, object: unknown): ApiObject {
  const { kind, apiVersion, metadata } = recordOf(object);
  const resource = resourceOf(String(kind), apiVersion === undefined ? undefined : String(apiVersion));
  const { namespace: given = 'default', name, resourceVersion: _, ...others } = recordOf(metadata);
  const namespace = resource.scope === 'namespace' ? String(given) : undefined;
  const target = { resource, namespace, name: String(name) };
  const body = { ...recordOf(object), metadata: { ...others, name } };
  const exists = cluster.store.get(resource.plural, namespace, target.name) !== undefined;
  const result = exists
    ? updateObject(cluster, target, body, 'everything', 'stored')
    : createObject(cluster, target, body, 'stored');
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

export function deleteDirectly(cluster: Cluster, { kind, namespace, name }: ObjectReference): boolean {
  const { plural, scope } = resourceOf(kind);
  const object = cluster.store.get(plural, scope === 'namespace' ? (namespace ?? 'default') : undefined, name);
  if (object) cluster.store.remove(plural, object);
  return object !== undefined;
}
