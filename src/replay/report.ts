import { LEVELS } from '../queue/change.ts';
import type { DropReason } from '../queue/queue-metrics.ts';
import type { Controller, ControllerName } from './controller.ts';
import type { LatencyReport, LatencySummary } from './latencies.ts';
import type { Replayed } from './replay-trace.ts';

export interface ControllerReport {
  readonly name: ControllerName;
  readonly passes: number;
  readonly passesPerMinute: number;
  readonly servicesProcessed: number;
  /** From an event to the end of the first pass that contains it. */
  readonly latencyMs: LatencyReport;
  readonly eventsDropped: Readonly<Record<DropReason, number>>;
  readonly apiRequests: number;
}

export interface ReplayReport {
  readonly controllers: readonly ControllerReport[];
}

export function reportReplay({ controllers, durationMs }: Replayed): ReplayReport {
  return { controllers: controllers.map((controller) => reportController(controller, durationMs)) };
}

function reportController({ name, tally }: Controller, durationMs: number): ControllerReport {
  const { passes, servicesProcessed, latencies, dropped, apiRequests } = tally;
  return {
    name,
    passes,
    passesPerMinute: durationMs === 0 ? 0 : round((passes * 60_000) / durationMs),
    servicesProcessed,
    latencyMs: latencies.read(),
    eventsDropped: { ...dropped },
    apiRequests,
  };
}

/** The controllers side by side, for people. */
export function formatReplay(replayed: Replayed): string {
  const { controllers } = reportReplay(replayed);
  const row = (title: string, cell: (controller: ControllerReport) => string) => [title, ...controllers.map(cell)];
  const busy = (name: ControllerName) => replayed.controllers.find((each) => each.name === name)?.tally.busyMs ?? 0;
  const rows = [
    row('', ({ name }) => name),
    row('passes', ({ passes }) => count(passes)),
    row('passes a minute', ({ passesPerMinute }) => count(passesPerMinute)),
    row('Services processed', ({ servicesProcessed }) => count(servicesProcessed)),
    row('seconds in passes', ({ name }) => count(round(busy(name) / 1000))),
    row('API requests by passes', ({ apiRequests }) => count(apiRequests)),
    row('events dropped', ({ eventsDropped }) => count(Object.values(eventsDropped).reduce((sum, n) => sum + n, 0))),
    ...(['same-version', 'immaterial', 'not-ours'] as const).map((reason) =>
      row(`  ${reason}`, ({ eventsDropped }) => count(eventsDropped[reason])),
    ),
    ...(['all', ...LEVELS] as const).flatMap((level) => [
      row(`${level}: events`, ({ latencyMs }) => count(latencyMs[level].events)),
      row('  p50 / p90 ms', ({ latencyMs }) => pair(latencyMs[level], 'p50', 'p90')),
      row('  p99 / max ms', ({ latencyMs }) => pair(latencyMs[level], 'p99', 'max')),
    ]),
  ];
  const seconds = count(round(replayed.durationMs / 1000));
  return `${count(replayed.events)} events, ${seconds} s\n\n${align(rows)}`;
}

function pair(summary: LatencySummary, a: 'p50' | 'p99', b: 'p90' | 'max'): string {
  return summary.events === 0 ? '–' : `${count(Math.round(summary[a]))} / ${count(Math.round(summary[b]))}`;
}

/** With a comma for every thousand. */
function count(value: number): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The first column to the left, the others to the right. */
function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return rows.map((row) => `${line(row).join('   ').trimEnd()}\n`).join('');
}
