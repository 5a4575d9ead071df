import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { HistogramReading } from '../queue/histogram.ts';

/** One value of a metric with its labels. */
export type Sample<Label extends string = string> = readonly [
  labels: Readonly<Partial<Record<Label, string>>>,
  value: number,
];

/** The metrics of one process, without those that are read from the kernel on request. */
export class MetricsRegistry {
  readonly registry = new Registry();

  counter<const Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  gauge<const Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  histogram<const Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [this.registry] });
  }

  /** A counter or gauge whose values are asked for when they are needed. */
  read<const Label extends string>(
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    samples: () => Iterable<Sample<Label>>,
  ): void {
    this.#register(name, help, type, () => [...samples()].map(([labels, value]) => ({ labels: { ...labels }, value })));
  }

  /** A histogram that is counted elsewhere. */
  readHistograms(
    name: string,
    help: string,
    readings: () => Iterable<readonly [labels: Readonly<Record<string, string>>, reading: HistogramReading]>,
  ): void {
    this.#register(name, help, 'histogram', () =>
      [...readings()].flatMap(([labels, { buckets, count, sum }]) => [
        ...buckets.map(({ upTo, count: value }) => ({
          metricName: `${name}_bucket`,
          labels: { ...labels, le: upTo === Number.POSITIVE_INFINITY ? '+Inf' : String(upTo) },
          value,
        })),
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]),
    );
  }

  /** The page, metric by metric. A metric without any value is left out, as Kubernetes does. */
  async *page(): AsyncGenerator<string> {
    for (const { name } of this.registry.getMetricsAsArray()) {
      const text = await this.registry.getSingleMetricAsString(name);
      if (text.split('\n', HEADER_LINES + 1).length > HEADER_LINES) yield `${text.replace(/ Nan$/gm, ' NaN')}\n`;
    }
  }

  #register(
    name: string,
    help: string,
    type: 'counter' | 'gauge' | 'histogram',
    values: () => readonly { readonly labels: object; readonly value: number }[],
  ): void {
    const metric = { name, help, type, get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }) };
    this.registry.registerMetric(metric as unknown as Metric);
  }
}

const HEADER_LINES = 2;

/** `first`, `first × factor`, … */
export function exponential(first: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, power) => first * factor ** power);
}

/** From `first` in steps up to `last`. */
export function linear(first: number, step: number, last: number): readonly number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}
