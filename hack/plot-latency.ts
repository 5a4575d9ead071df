/**
 * Draws how long changes wait, by level, for each controller of a replay: docs/explanation/latency-by-level.svg.
 *
 * Usage: node hack/plot-latency.ts [SPEC] > FILE.svg, with SPEC as for `replay --generate`.
 */
import { LEVELS, type Level } from '../src/queue/change.ts';
import { DEFAULT_QUEUE_SETTINGS } from '../src/queue/settings.ts';
import { type Controller, DEFAULT_COST } from '../src/replay/controller.ts';
import { parseGenerateSpec } from '../src/replay/generate-spec.ts';
import { generatePieces } from '../src/replay/generate-trace.ts';
import { type Replayed, replayTrace } from '../src/replay/replay-trace.ts';

const PANEL = { width: 300, height: 190, left: 56, top: 48, gap: 66 } as const;
const COLOURS: Readonly<Record<Controller['name'], string>> = {
  naive: '#8a8a8a',
  'kube-proxy': '#c2571a',
  'ipvs-proxier': '#1a6fc2',
};

/** A share of the events of a level, 0…1, that were in the kernel after so many milliseconds. */
type Point = readonly [latencyMs: number, share: number];

/** One panel a level that has events, two in a row; in each the share of events over their latency. */
export function plotLatency(controllers: readonly Controller[], title: string): string {
  const levels = LEVELS.filter((level) => controllers.some((controller) => pointsOf(controller, level).length > 0));
  const longestMs = Math.max(1, ...controllers.flatMap(({ tally }) => tally.latencies.read().all.max));
  const maxMs = Math.ceil(longestMs / 250) * 250;
  const rows = Math.ceil(levels.length / 2);
  const [width, height] = [2 * (PANEL.left + PANEL.width) + 40, PANEL.top + rows * (PANEL.height + PANEL.gap)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>Share of changes in the kernel over the time since their event: ${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${PANEL.left}" y="18" font-size="14">${title}</text>`,
    ...Object.entries(COLOURS).map(
      ([name, colour], index) => `<text x="${PANEL.left + index * 110}" y="36" fill="${colour}">━ ${name}</text>`,
    ),
    ...levels.flatMap((level, index) => [
      `<g transform="translate(${PANEL.left + (index % 2) * (PANEL.width + PANEL.left)} ${
        PANEL.top + 20 + Math.floor(index / 2) * (PANEL.height + PANEL.gap)
      })">`,
      ...axes(level, maxMs),
      ...controllers.map((controller) => curve(pointsOf(controller, level), COLOURS[controller.name], maxMs)),
      '</g>',
    ]),
    '</svg>',
    '',
  ].join('\n');
}

function pointsOf({ tally }: Controller, level: Level): readonly Point[] {
  const counts = tally.latencies.counts(level);
  const all = counts.reduce((sum, [, events]) => sum + events, 0);
  let before = 0;
  return counts.map(([latencyMs, events]) => {
    before += events;
    return [latencyMs, before / all];
  });
}

function axes(level: Level, maxMs: number): readonly string[] {
  const { width, height } = PANEL;
  const steps = [0, 0.25, 0.5, 0.75, 1];
  return [
    `<text x="0" y="-8" font-weight="bold">${level}</text>`,
    `<rect width="${width}" height="${height}" fill="none" stroke="#999999"/>`,
    ...steps.flatMap((step) => [
      `<text x="-6" y="${round(height * (1 - step) + 4)}" text-anchor="end">${step * 100} %</text>`,
      `<text x="${round(width * step)}" y="${height + 16}" text-anchor="middle">${Math.round(maxMs * step)}</text>`,
      `<path d="M0 ${round(height * (1 - step))}H${width}" stroke="#e2e2e2"/>`,
    ]),
    `<text x="${width / 2}" y="${height + 32}" text-anchor="middle">ms from the event to the end of its pass</text>`,
  ];
}

/** A step for every hundredth of the events is as much as can be seen. */
function curve(points: readonly Point[], colour: string, maxMs: number): string {
  const { width, height } = PANEL;
  let drawn = -1;
  const seen = points.filter(([, share], index) => {
    const hundredth = Math.floor(share * 100);
    const isNew = hundredth > drawn || index === points.length - 1;
    if (isNew) drawn = hundredth;
    return isNew;
  });
  const steps = seen.map(
    ([latencyMs, share]) => `H${round((latencyMs / maxMs) * width)}V${round(height * (1 - share))}`,
  );
  return `<path d="M0 ${height}${steps.join('')}H${width}" fill="none" stroke="${colour}" stroke-width="1.6"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Runs the trace that a spec describes, as `replay --generate` does without further options. */
export async function replayForPlot(words: string): Promise<{ readonly replayed: Replayed; readonly title: string }> {
  const spec = parseGenerateSpec(words);
  if (!spec.ok) throw new Error(spec.error);
  const replayed = await replayTrace(generatePieces(spec.value), {
    queue: DEFAULT_QUEUE_SETTINGS,
    cost: DEFAULT_COST,
    minSyncPeriodMs: 1_000,
    syncPeriodMs: 30_000,
    nodeName: '',
    otherNodes: 'watched',
    problem: () => {},
  });
  const { slices, endpoints, changesPerSecond, seconds } = spec.value;
  const title = `${slices} slices of ${endpoints} endpoints, ${changesPerSecond} changes a second, ${seconds} s`;
  return { replayed, title };
}

if (import.meta.main) {
  const { replayed, title } = await replayForPlot(process.argv[2] ?? '');
  process.stdout.write(plotLatency(replayed.controllers, title));
}
