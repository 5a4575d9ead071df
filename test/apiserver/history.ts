import type { ApiObject } from './api-object.ts';

/** One write. `previous` is absent on creation, `current` on deletion; a deletion's `previous` carries the version of the deletion. */
export interface Change {
  readonly revision: number;
  /** The resource's plural name. */
  readonly plural: string;
  readonly previous: ApiObject | undefined;
  readonly current: ApiObject | undefined;
}

type Listener = (change: Change) => void;

/** The one counter behind every resourceVersion, and the last writes, which watches resume from. */
export class History {
  #revision = 1;
  #compacted = 0;
  #changes: Change[] = [];
  readonly #listeners = new Set<Listener>();
  readonly #limit: number;

  /** `limit`: how many writes are kept. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The version of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  /** Gives the next write its version, which the object being written must carry. */
  nextRevision(): number {
    this.#revision += 1;
    return this.#revision;
  }

  /** Keeps a write and tells every listener of it before returning. */
  append(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > this.#limit * 1.25) {
      const dropped = this.#changes.splice(0, this.#changes.length - this.#limit);
      this.#compacted = dropped.at(-1)?.revision ?? this.#compacted;
    }
    for (const listener of this.#listeners) listener(change);
  }

  /** The writes after `revision`, oldest first; undefined when some of them are no longer kept. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#compacted) return undefined;
    const first = this.#changes.findLastIndex((change) => change.revision <= revision) + 1;
    return this.#changes.slice(first);
  }

  /** Makes every version handed out so far too old, also on resources that did not change since. */
  compact(): void {
    this.#compacted = this.nextRevision();
    this.#changes = [];
  }

  /** Calls `listener` with each write from now on, until the returned function is called. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
