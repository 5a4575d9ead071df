/** What is aimed at. It is said of each figure whether it is reached; nothing fails by it. */
export interface Goal {
  readonly atMost: number;
  /** `reference`: counts at {@link REFERENCE_SIZE} alone. */
  readonly at: 'reference' | 'every size';
}

/** `ms` is processor time of the main thread unless `what` says otherwise. */
export type Unit = 'ms' | 's' | 'MB' | 'lines' | 'processes' | '×';

/** One thing that was measured, as often as there are samples. */
export interface Figure {
  readonly what: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  readonly goal?: Goal;
}

/** One benchmark. Each size of it runs in a process of its own, which may collect garbage by `gc`. */
export interface Bench {
  readonly name: string;
  readonly title: string;
  /** Numbers of Services. */
  readonly sizes: readonly number[];
  /** In how many processes each size is run, one above the reference size; the samples are put together. */
  readonly processes: number;
  run(size: number): Promise<readonly Figure[]>;
}

/** Services of 10 endpoints each. */
export const REFERENCE_SIZE = 10_000;

export const SIZES: readonly number[] = [100, 1_000, REFERENCE_SIZE, 50_000];

/** Half of the samples are smaller. NaN without samples. */
export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}
