import type { Decoded, Problem } from '../model/problem.ts';
import type { RawObject } from './watch-events.ts';

/** Who is told of changes, in the order in which they happen. */
export interface CacheHandler<T> {
  /** `previous` is absent when the object is new, `current` when it is gone; both are never absent. */
  changed(previous: T | undefined, current: T | undefined): void;
  problem(problem: Problem): void;
  /** An object came in the version in which it is known, as after a relist. */
  repeated?(): void;
}

export type TapType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Hears of objects as the server gives them, before anything of them is read. Of one that is gone only the metadata's names are known. */
export type RawTap = (type: TapType, object: unknown) => void;

/** One object as a list or an event shows it, decoded. */
export interface SeenObject<T> extends Decoded<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The whole object; kept only where somebody taps. */
  readonly raw?: unknown;
}

interface Entry<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent for an object of which no state could be decoded yet. */
  readonly value: T | undefined;
}

/** The decoded objects of one resource, under the keys of their raw metadata; turns states into changes. */
export class ObjectCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #decode: (json: unknown) => Decoded<T>;
  readonly #handler: CacheHandler<T>;
  readonly #tap: RawTap | undefined;

  constructor(decode: (json: unknown) => Decoded<T>, handler: CacheHandler<T>, tap?: RawTap) {
    this.#decode = decode;
    this.#handler = handler;
    this.#tap = tap;
  }

  /** Decodes an object without telling anyone; one that is known in the same version is not decoded again. */
  read({ key, uid, resourceVersion, json }: RawObject): SeenObject<T> {
    const known = this.#entries.get(key);
    const same = known !== undefined && known.uid === uid && known.resourceVersion === resourceVersion;
    const decoded = same ? { problems: [] } : this.#decode(json);
    return { ...decoded, uid, resourceVersion, ...(this.#tap ? { raw: json } : {}) };
  }

  /**
   * Takes over the state of one object. Another uid under the same key is a deletion and an addition. An object that could not be
   * decoded keeps the value it had; its problems are passed on.
   */
  put(key: string, { uid, resourceVersion, value, problems, raw }: SeenObject<T>): void {
    const known = this.#entries.get(key);
    const same = known?.uid === uid ? known : undefined;
    if (known && !same) this.remove(key);
    this.#tap?.(same ? 'MODIFIED' : 'ADDED', raw);
    if (same?.resourceVersion === resourceVersion) {
      this.#handler.repeated?.();
      return;
    }
    const previous = same?.value;
    this.#entries.set(key, { uid, resourceVersion, value: value ?? previous });
    for (const problem of problems) this.#handler.problem(problem);
    if (value !== undefined) this.#handler.changed(previous, value);
  }

  /** Forgets an object; harmless when it is not known. */
  remove(key: string): void {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    if (known) this.#tap?.('DELETED', namesOnly(key, known));
    if (known?.value !== undefined) this.#handler.changed(known.value, undefined);
  }

  /** Makes a complete list the state: what it lacks is removed first, then each of its objects is put. */
  replace(objects: ReadonlyMap<string, SeenObject<T>>): void {
    for (const key of [...this.#entries.keys()].filter((known) => !objects.has(known))) this.remove(key);
    for (const [key, object] of objects) this.put(key, object);
  }
}

function namesOnly(key: string, { uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }) {
  const [namespace = '', name] = key.split('/');
  return { metadata: { ...(namespace === '' ? {} : { namespace }), name, uid, resourceVersion } };
}
