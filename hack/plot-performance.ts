/**
 * Draws what passes cost by the number of Services, from the results of `npm run bench -- --json FILE`: docs/explanation/performance.svg;
 * with `--table` prints the tables of the page beside it, for which the results of the lab may be given too.
 *
 * Usage: node hack/plot-performance.ts [--table] FILE.json…
 */
import { readFileSync } from 'node:fs';
import { REFERENCE_SIZE, SIZES } from '../test/bench/figure.ts';
import type { BenchResult, FigureResult, Report } from '../test/bench/result.ts';

const PANEL = { width: 560, height: 340, left: 70, top: 56, right: 220, bottom: 56 } as const;

interface Line {
  readonly label: string;
  readonly colour: string;
  /** Name of the benchmark, and its figure in milliseconds. */
  readonly bench: string;
  readonly what: string;
}

const LINES: readonly Line[] = [
  { label: 'everything as text', colour: '#8a8a8a', bench: 'full-state', what: 'computed and rendered, warm' },
  { label: 'restart, nothing to do', colour: '#7a4fb5', bench: 'restart', what: 'first pass, 0 differences' },
  { label: 'full pass, nothing to do', colour: '#c2571a', bench: 'idle-pass', what: 'pass that reads the kernel' },
  { label: 'normal pass, nothing to do', colour: '#2e8b57', bench: 'idle-pass', what: 'pass from memory' },
  {
    label: 'one endpoint changed',
    colour: '#1a6fc2',
    bench: 'one-endpoint',
    what: 'event and pass, on a machine that takes no time',
  },
];

type Point = readonly [size: number, ms: number];

/** Both axes are logarithmic, so that what grows with the number of Services is a slope and what does not is level. */
export function plotPerformance(results: readonly BenchResult[]): string {
  const curves = LINES.map((line) => ({ line, points: pointsOf(results, line) })).filter(
    ({ points }) => points.length > 0,
  );
  const values = curves.flatMap(({ points }) => points.map(([, ms]) => ms));
  const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const { width, height, left, top, right, bottom } = PANEL;
  const scale: Scale = {
    x: (size) => round((width * Math.log10(size / 100)) / Math.log10(500)),
    y: (ms) => round((height * (high - Math.log10(ms))) / (high - low)),
  };
  const [fullWidth, fullHeight] = [left + width + right, top + height + bottom];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${fullWidth} ${fullHeight}" font-family="sans-serif" font-size="12">`,
    '<title>Processor time of passes by the number of Services</title>',
    `<rect width="${fullWidth}" height="${fullHeight}" fill="#ffffff"/>`,
    `<text x="${left}" y="22" font-size="14">Processor time by the number of Services, 10 endpoints each</text>`,
    `<text x="${left}" y="42" fill="#555555">medians; without the time of tools and of the kernel</text>`,
    `<g transform="translate(${left} ${top})">`,
    ...axes(low, high, scale),
    ...curves.flatMap(({ line, points }) => curve(line, points, scale)),
    ...spread(curves.map(({ points }) => scale.y(points.at(-1)?.[1] ?? 1))).map(
      (y, index) =>
        `<text x="${width + 10}" y="${round(y + 4)}" fill="${curves[index]?.line.colour}">${curves[index]?.line.label}</text>`,
    ),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

interface Scale {
  readonly x: (size: number) => number;
  readonly y: (ms: number) => number;
}

function pointsOf(results: readonly BenchResult[], { bench, what }: Line): readonly Point[] {
  return results.flatMap(({ name, size, figures }): readonly Point[] => {
    const figure = name === bench ? figures.find((each) => each.what === what) : undefined;
    return figure ? [[size, figure.median]] : [];
  });
}

function axes(low: number, high: number, { x, y }: Scale): readonly string[] {
  const { width, height } = PANEL;
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return [
    `<rect width="${width}" height="${height}" fill="none" stroke="#999999"/>`,
    ...decades.flatMap((ms) => [
      `<text x="-6" y="${round(y(ms) + 4)}" text-anchor="end">${Number(ms.toPrecision(1))} ms</text>`,
      `<path d="M0 ${y(ms)}H${width}" stroke="#e2e2e2"/>`,
    ]),
    ...SIZES.flatMap((size) => [
      `<text x="${x(size)}" y="${height + 18}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
      `<path d="M${x(size)} 0V${height}" stroke="#e2e2e2"/>`,
    ]),
    `<text x="${width / 2}" y="${height + 38}" text-anchor="middle">Services</text>`,
  ];
}

function curve({ colour }: Line, points: readonly Point[], { x, y }: Scale): readonly string[] {
  const path = points.map(([size, ms], index) => `${index === 0 ? 'M' : 'L'}${x(size)} ${y(ms)}`).join('');
  return [
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.8"/>`,
    ...points.map(([size, ms]) => `<circle cx="${x(size)}" cy="${y(ms)}" r="3" fill="${colour}"/>`),
  ];
}

/** Moves labels down until none covers the one above. */
function spread(heights: readonly number[]): readonly number[] {
  const placed = [...heights];
  let last = Number.NEGATIVE_INFINITY;
  for (const [index, height] of [...heights.entries()].sort(([, a], [, b]) => a - b)) {
    last = Math.max(height, last + 15);
    placed[index] = last;
  }
  return placed;
}

/** Two tables in Markdown: what is drawn, and every figure that has a goal, at the reference size or in the lab. */
export function performanceTables(results: readonly BenchResult[]): string {
  const bySize = LINES.map(({ label, ...line }) => {
    const points = new Map(pointsOf(results, { label, ...line }));
    return [label, ...SIZES.map((size) => number(points.get(size)))];
  });
  const largest = results.filter(({ name, size }) => size === REFERENCE_SIZE || name.startsWith('lab-'));
  const goals = largest.flatMap(({ name, figures, load }) =>
    figures.flatMap((figure) => (figure.goal === undefined ? [] : [goalRow(name, figure, load)])),
  );
  return [
    ...table(['Processor time, ms', ...SIZES.map((size) => size.toLocaleString('en'))], bySize),
    '',
    ...table(['Benchmark', 'Figure', 'Median', 'Smallest', 'Goal', 'Load'], goals),
    '',
  ].join('\n');
}

function goalRow(
  name: string,
  { what, unit, median, min, goal }: FigureResult,
  load: BenchResult['load'],
): readonly string[] {
  return [
    `\`${name}\``,
    what,
    `${number(median)} ${unit}`,
    `${number(min)} ${unit}`,
    `≤ ${goal?.atMost} ${unit}`,
    load.join(' … '),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  );
}

function number(value: number | undefined): string {
  if (value === undefined) return '';
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The results in all the files. */
export function readResults(files: readonly string[]): readonly BenchResult[] {
  return files.flatMap((file) => (JSON.parse(readFileSync(file, 'utf8')) as Report).results);
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  const results = readResults(words.filter((word) => word !== '--table'));
  process.stdout.write(words.includes('--table') ? performanceTables(results) : plotPerformance(results));
}
