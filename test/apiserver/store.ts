import { isDeepStrictEqual } from 'node:util';
import { type ApiObject, keyOfObject, objectKey } from './api-object.ts';
import type { History } from './history.ts';

/** The objects, by resource. Only this class gives out resource versions; callers decide whether a write is allowed. */
export class ObjectStore {
  readonly #byPlural = new Map<string, Map<string, ApiObject>>();
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  get(plural: string, namespace: string | undefined, name: string): ApiObject | undefined {
    return this.#objects(plural).get(objectKey(namespace, name));
  }

  /** All objects of a resource, ordered by namespace and name. */
  list(plural: string): readonly ApiObject[] {
    return inOrder(this.#objects(plural));
  }

  /** The objects as they were at `revision`; undefined when the writes since then are no longer kept. */
  listAt(plural: string, revision: number): readonly ApiObject[] | undefined {
    const later = this.#history.since(revision);
    if (later === undefined) return undefined;
    const objects = new Map(this.#objects(plural));
    for (const { previous, current } of later.filter((change) => change.plural === plural).reverse()) {
      if (current) objects.delete(keyOfObject(current));
      if (previous) objects.set(keyOfObject(previous), previous);
    }
    return inOrder(objects);
  }

  /** Writes the object under a new version. An object equal to the stored one is not written, and keeps its version. */
  write(plural: string, object: ApiObject): ApiObject {
    const objects = this.#objects(plural);
    const previous = objects.get(keyOfObject(object));
    if (previous && isDeepStrictEqual(previous, withVersion(object, previous.metadata.resourceVersion ?? '')))
      return previous;
    const revision = this.#history.nextRevision();
    const current = withVersion(object, String(revision));
    objects.set(keyOfObject(current), current);
    this.#history.append({ revision, plural, previous, current });
    return current;
  }

  /** Removes the object and returns it with the version of its deletion. */
  remove(plural: string, object: ApiObject): ApiObject {
    this.#objects(plural).delete(keyOfObject(object));
    const revision = this.#history.nextRevision();
    const previous = withVersion(object, String(revision));
    this.#history.append({ revision, plural, previous, current: undefined });
    return previous;
  }

  /** The namespaces in which anything is kept. */
  namespaces(): ReadonlySet<string> {
    const all = [...this.#byPlural.values()].flatMap((objects) => [...objects.values()]);
    return new Set(all.flatMap(({ metadata }) => metadata.namespace ?? []));
  }

  #objects(plural: string): Map<string, ApiObject> {
    const objects = this.#byPlural.get(plural) ?? new Map<string, ApiObject>();
    this.#byPlural.set(plural, objects);
    return objects;
  }
}

function inOrder(objects: ReadonlyMap<string, ApiObject>): readonly ApiObject[] {
  const keys = [...objects.keys()].sort();
  return keys.flatMap((key) => objects.get(key) ?? []);
}

function withVersion(object: ApiObject, resourceVersion: string): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}
