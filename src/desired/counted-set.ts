/** Values that several owners ask for; each is in it as long as one of them does. */
export class CountedSet<T> {
  readonly #values = new Set<T>();
  /** How many ask for a value beyond the first; most have one owner. */
  readonly #more = new Map<T, number>();

  /** Live: later calls change it. */
  get values(): ReadonlySet<T> {
    return this.#values;
  }

  /** True when nobody had asked for it before. */
  add(value: T): boolean {
    const before = this.#values.size;
    if (this.#values.add(value).size > before) return true;
    this.#more.set(value, (this.#more.get(value) ?? 0) + 1);
    return false;
  }

  /** True when nobody asks for it any more. */
  remove(value: T): boolean {
    const more = this.#more.get(value) ?? 0;
    if (more === 0) return this.#values.delete(value);
    if (more === 1) this.#more.delete(value);
    else this.#more.set(value, more - 1);
    return false;
  }
}
