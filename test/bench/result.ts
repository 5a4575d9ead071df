import { cpus, loadavg } from 'node:os';
import { type Bench, type Figure, median, REFERENCE_SIZE } from './figure.ts';

/** One benchmark at one size. */
export interface BenchResult {
  readonly name: string;
  readonly title: string;
  readonly size: number;
  /** Processes that ran or waited for a processor in the last minute, before and after. */
  readonly load: readonly [before: number, after: number];
  readonly figures: readonly FigureResult[];
}

/** What the samples of a figure come to. */
export interface FigureResult extends Omit<Figure, 'samples'> {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly samples: number;
  /** Absent where there is no goal at this size. */
  readonly reached?: boolean;
}

/** What is written to a file. */
export interface Report {
  readonly startedAt: string;
  readonly node: string;
  readonly processors: string;
  readonly results: readonly BenchResult[];
}

export function currentLoad(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** `runs`: the figures of each process, in the same order. */
export function summarize(
  { name, title }: Pick<Bench, 'name' | 'title'>,
  size: number,
  runs: readonly (readonly Figure[])[],
  load: BenchResult['load'],
): BenchResult {
  const figures = (runs[0] ?? []).map(({ samples: _, ...figure }, index): FigureResult => {
    const samples = runs.flatMap((run) => run[index]?.samples ?? []);
    const middle = median(samples);
    const { goal } = figure;
    const isJudged = goal !== undefined && (goal.at === 'every size' || size === REFERENCE_SIZE);
    return {
      ...figure,
      median: rounded(middle),
      min: rounded(Math.min(...samples)),
      max: rounded(Math.max(...samples)),
      samples: samples.length,
      ...(isJudged ? { reached: middle <= goal.atMost } : {}),
    };
  });
  return { name, title, size, load, figures };
}

export function reportOf(startedAt: string, results: readonly BenchResult[]): Report {
  const all = cpus();
  return { startedAt, node: process.version, processors: `${all.length} × ${all[0]?.model ?? 'unknown'}`, results };
}

/** One block a result: what, median, smallest to largest, how often measured, and the goal if there is one at this size. */
export function formatResult({ name, title, size, load, figures }: BenchResult): string {
  const cells = figures.map((figure) => [
    figure.what,
    `${number(figure.median)} ${figure.unit}`,
    figure.samples > 1 ? `${number(figure.min)} … ${number(figure.max)}` : '',
    `${figure.samples}`,
    verdict(figure),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === 4 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const head = `${name}, ${size.toLocaleString('en')} Services: ${title} (load ${load.join(' … ')})`;
  return `${[head, ...lines.map((line) => `  ${line}`)].join('\n')}\n`;
}

/** More digits than these only tell of the machine. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

function verdict({ goal, unit, reached }: FigureResult): string {
  if (goal === undefined || reached === undefined) return '';
  return `${reached ? 'reached' : 'MISSED'}: at most ${goal.atMost} ${unit}`;
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
