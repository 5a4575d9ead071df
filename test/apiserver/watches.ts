import type { OpenWatch } from './open-watch.ts';

interface Waiter {
  readonly plural: string;
  readonly count: number;
  readonly resolve: () => void;
}

/** The watches that are open now. */
export class Watches {
  readonly #open = new Set<OpenWatch>();
  #waiters: Waiter[] = [];

  add(watch: OpenWatch): void {
    this.#open.add(watch);
    this.#tell();
  }

  remove(watch: OpenWatch): void {
    this.#open.delete(watch);
    this.#tell();
  }

  [Symbol.iterator](): Iterator<OpenWatch> {
    return [...this.#open].values();
  }

  count(plural: string): number {
    return [...this.#open].filter(({ options }) => options.selection.resource.plural === plural).length;
  }

  /** Resolves as soon as exactly `count` watches of the resource are open. */
  until(plural: string, count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ plural, count, resolve });
      this.#tell();
    });
  }

  #tell(): void {
    const reached = this.#waiters.filter(({ plural, count }) => this.count(plural) === count);
    this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter));
    for (const { resolve } of reached) resolve();
  }
}
