/** Counts of values at or below each bound, as a page of metrics needs them. */
export interface HistogramReading {
  /** Each with the number of values that are not above it; they add up as in Prometheus, the last one without a bound. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  /** Bounds ascend. */
  constructor(bounds: readonly number[]) {
    this.#bounds = [...bounds, Number.POSITIVE_INFINITY];
    this.#counts = this.#bounds.map(() => 0);
  }

  observe(value: number): void {
    const place = this.#bounds.findIndex((bound) => value <= bound);
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sum += value;
  }

  read(): HistogramReading {
    let count = 0;
    const buckets = this.#bounds.map((upTo, place) => {
      count += this.#counts[place] ?? 0;
      return { upTo, count };
    });
    return { buckets, count, sum: this.#sum };
  }
}
