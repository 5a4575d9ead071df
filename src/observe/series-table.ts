/**
 * Series that share their metrics: labels once, and a value of each metric. All of it is plain bytes and numbers: as tens of thousands of
 * strings and objects it would live long enough for the garbage collector to hold everything else up.
 */
export class SeriesTable {
  readonly #width: number;
  #labels = Buffer.allocUnsafe(FIRST_BYTES);
  /** Where the labels of each series end. */
  readonly #ends: number[] = [];
  readonly #values: number[] = [];

  /** `width`: how many metrics there are. */
  constructor(width: number) {
    this.#width = width;
  }

  get size(): number {
    return this.#ends.length;
  }

  /** `labels` as they stand behind the name of a metric, in ASCII; a value that is missing reads as 0. */
  add(labels: string, values: readonly number[]): void {
    const start = this.#ends.at(-1) ?? 0;
    if (start + labels.length > this.#labels.length) this.#grow(start + labels.length);
    this.#ends.push(start + this.#labels.write(labels, start, 'latin1'));
    for (let metric = 0; metric < this.#width; metric += 1) this.#values.push(values[metric] ?? 0);
  }

  /** Lines of a metric for the series from `from` to before `to`, with `head` before them. */
  lines(head: string, name: string, metric: number, from: number, to: number): Buffer {
    let start = this.#startOf(from);
    const prefix = Buffer.from(name, 'latin1');
    const most = head.length + this.#startOf(to) - start + (to - from) * (prefix.length + LONGEST_VALUE);
    const text = Buffer.allocUnsafe(most);
    let length = text.write(head, 'latin1');
    for (let series = from; series < to; series += 1) {
      const end = this.#ends[series] ?? start;
      text.set(prefix, length);
      length += prefix.length;
      length += this.#labels.copy(text, length, start, end);
      length += text.write(` ${this.#values[series * this.#width + metric]}\n`, length, 'latin1');
      start = end;
    }
    return text.subarray(0, length);
  }

  #startOf(series: number): number {
    return series === 0 ? 0 : (this.#ends[series - 1] ?? 0);
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#labels.length));
    this.#labels.copy(larger);
    this.#labels = larger;
  }
}

const FIRST_BYTES = 1 << 16;

/** Of any number as text, with a space before and a line feed behind it. */
const LONGEST_VALUE = 27;
