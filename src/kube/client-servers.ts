/**
 * Which of several addresses of the API server is in use: the first one until it fails, then the next, in a circle. An address that answers
 * is kept, though an earlier one may be back.
 */
export class ServerChoice {
  readonly #others: readonly string[];
  #first = '';
  #failures = 0;

  /** `others`: URLs besides the one that the credentials name. */
  constructor(others: readonly string[]) {
    this.#others = others;
  }

  /** The URL to use; `first` is the one that the credentials name now. */
  current(first: string): string {
    if (first !== this.#first) this.#failures = 0;
    this.#first = first;
    const all = [first, ...this.#others.filter((other) => other !== first)];
    return all[this.#failures % all.length] ?? first;
  }

  /** Requests to this URL get no answer. Of many failures at one URL only the first counts. */
  failed(server: string): void {
    if (server === this.current(this.#first)) this.#failures += 1;
  }
}
