import { LEVELS, type Level } from '../queue/change.ts';

/** Milliseconds; all 0 when there were no events. Percentiles are values that occurred (nearest rank). */
export interface LatencySummary {
  readonly events: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export type LatencyReport = Readonly<Record<Level | 'all', LatencySummary>>;

/** How often each latency occurred, to a hundredth of a millisecond: memory grows with the number of different ones, not of events. */
type Counts = Map<number, number>;

/** Latencies of events by the level of each. */
export class Latencies {
  readonly #byLevel: Readonly<Record<Level, Counts>> = {
    critical: new Map(),
    high: new Map(),
    normal: new Map(),
    low: new Map(),
  };

  observe(level: Level, latencyMs: number): void {
    add(this.#byLevel[level], Math.round(latencyMs * 100), 1);
  }

  read(): LatencyReport {
    const all: Counts = new Map();
    for (const level of LEVELS) for (const [latency, count] of this.#byLevel[level]) add(all, latency, count);
    const { critical, high, normal, low } = this.#byLevel;
    return {
      all: summarize(all),
      critical: summarize(critical),
      high: summarize(high),
      normal: summarize(normal),
      low: summarize(low),
    };
  }

  /** Every latency of a level in ascending order, with its number of events. */
  counts(level: Level): readonly (readonly [latencyMs: number, events: number])[] {
    return ascending(this.#byLevel[level]).map(([latency, count]) => [latency / 100, count]);
  }
}

function add(counts: Counts, latency: number, count: number): void {
  counts.set(latency, (counts.get(latency) ?? 0) + count);
}

function ascending(counts: Counts): readonly (readonly [number, number])[] {
  return [...counts].sort(([a], [b]) => a - b);
}

function summarize(counts: Counts): LatencySummary {
  const sorted = ascending(counts);
  const events = sorted.reduce((sum, [, count]) => sum + count, 0);
  const atRank = (rank: number): number => {
    let before = 0;
    for (const [latency, count] of sorted) {
      before += count;
      if (before >= rank) return latency / 100;
    }
    return 0;
  };
  const percentile = (percent: number) => atRank(Math.ceil((events * percent) / 100));
  return { events, p50: percentile(50), p90: percentile(90), p99: percentile(99), max: atRank(events) };
}
