import type { MetricsRegistry, Sample } from './metrics-registry.ts';

/** What was done to follow one resource; the counts of `kube/` fit. */
export interface WatchReading {
  readonly lists: number;
  readonly watches: number;
  readonly restarts: number;
  readonly events: number;
  readonly bookmarks: number;
  readonly relists: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly missedDeletions: number;
  /** By the clock in use; `undefined` before the first time. */
  readonly lastHeardMs: number | undefined;
}

export interface WatchSources {
  /** By resource, e.g. `services`. */
  readonly counts: () => ReadonlyMap<string, WatchReading>;
  /** Milliseconds since 1970 for a time by the clock in use. */
  readonly wallMsOf: (clockMs: number) => number;
}

/** How the cluster is followed, resource by resource: our own metrics. */
export function watchMetricsPage(registry: MetricsRegistry, { counts, wallMsOf }: WatchSources): void {
  const counter = (name: string, help: string, value: (reading: WatchReading) => number) =>
    registry.read('counter', `ipvs_proxier_watch_${name}`, help, () =>
      [...counts()].map(([resource, reading]): Sample => [{ resource }, value(reading)]),
    );
  const counters = (
    name: string,
    help: string,
    label: string,
    values: (reading: WatchReading) => WatchReading['relists'],
  ) =>
    registry.read('counter', `ipvs_proxier_watch_${name}`, help, () =>
      [...counts()].flatMap(([resource, reading]) =>
        Object.entries(values(reading)).map(([value, count]): Sample => [{ resource, [label]: value }, count]),
      ),
    );
  counter('lists_total', 'Complete lists of a resource', ({ lists }) => lists);
  counter('starts_total', 'Watches that the API server took', ({ watches }) => watches);
  counter('restarts_total', 'Watches that went on where one before had ended', ({ restarts }) => restarts);
  counter('events_total', 'Objects that came by watches', ({ events }) => events);
  counter('bookmarks_total', 'Bookmarks that came by watches', ({ bookmarks }) => bookmarks);
  counters('relists_total', 'Lists because a watch could not go on', 'reason', ({ relists }) => relists);
  counters('failures_total', 'Lists and watches that failed', 'kind', ({ failures }) => failures);
  counter('missed_deletions_total', 'Objects whose end only a list has told', ({ missedDeletions }) => missedDeletions);
  registry.read(
    'gauge',
    'ipvs_proxier_watch_last_heard_timestamp_seconds',
    'When the API server last said something of a resource',
    () =>
      [...counts()].flatMap(([resource, { lastHeardMs }]): Sample[] =>
        lastHeardMs === undefined ? [] : [[{ resource }, wallMsOf(lastHeardMs) / 1000]],
      ),
  );
}
