interface Item {
  readonly key: string;
  dueMs: number;
  /** Where it stands in the heap. */
  place: number;
}

/** Keys in order of their due times: a binary heap that also finds a key, to move or remove it. Every call but `takeAll` is O(log n). */
export class DueHeap {
  readonly #heap: Item[] = [];
  readonly #items = new Map<string, Item>();

  get size(): number {
    return this.#heap.length;
  }

  /** `Infinity` when it is empty. */
  get earliestMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** A key with the earliest due time; `undefined` when it is empty. */
  get earliest(): string | undefined {
    return this.#heap[0]?.key;
  }

  /** Puts a key in, or moves it to another due time. */
  set(key: string, dueMs: number): void {
    const known = this.#items.get(key);
    if (known?.dueMs === dueMs) return;
    const item = known ?? { key, dueMs, place: this.#heap.length };
    item.dueMs = dueMs;
    if (!known) this.#items.set(key, item);
    this.#settle(item);
  }

  /** False for a key that is not in it. */
  remove(key: string): boolean {
    const item = this.#items.get(key);
    if (!item) return false;
    this.#items.delete(key);
    const last = this.#heap.pop();
    if (last && last !== item) {
      last.place = item.place;
      this.#settle(last);
    }
    return true;
  }

  /** Takes out what is due at `nowMs`, the earliest first. */
  takeDue(nowMs: number): string[] {
    const taken: string[] = [];
    for (let first = this.#heap[0]; first && first.dueMs <= nowMs; first = this.#heap[0]) {
      taken.push(first.key);
      this.remove(first.key);
    }
    return taken;
  }

  /** Takes everything out, in no order. O(n). */
  takeAll(): string[] {
    this.#items.clear();
    return this.#heap.splice(0).map(({ key }) => key);
  }

  /** Moves an item up or down from its place until it stands between what is due before and after it. */
  #settle(item: Item): void {
    const start = item.place;
    for (let parent = this.#parent(item); parent && parent.dueMs > item.dueMs; parent = this.#parent(item)) {
      this.#swap(item, parent);
    }
    this.#put(item, item.place);
    if (item.place !== start) return;
    for (let child = this.#child(item); child && child.dueMs < item.dueMs; child = this.#child(item)) {
      this.#swap(item, child);
    }
    this.#put(item, item.place);
  }

  #parent({ place }: Item): Item | undefined {
    return place === 0 ? undefined : this.#heap[(place - 1) >> 1];
  }

  /** The one that is due first. */
  #child({ place }: Item): Item | undefined {
    const left = this.#heap[2 * place + 1];
    const right = this.#heap[2 * place + 2];
    return left && right && right.dueMs < left.dueMs ? right : left;
  }

  /** The place that `item` moves to is filled when it has come to rest. */
  #swap(item: Item, other: Item): void {
    const { place } = other;
    this.#put(other, item.place);
    item.place = place;
  }

  #put(item: Item, place: number): void {
    item.place = place;
    this.#heap[place] = item;
  }
}
