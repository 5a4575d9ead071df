import { collectDefaultMetrics } from 'prom-client';
import type { MetricsRegistry } from './metrics-registry.ts';

/** `process_*` as every Prometheus client has them, `nodejs_*`, and what it is that runs. */
export function processMetrics(registry: MetricsRegistry, version: string): void {
  collectDefaultMetrics({ register: registry.registry });
  const labels = { version, node_version: process.version } as const;
  registry.read('gauge', 'ipvs_proxier_build_info', 'Always 1; the labels tell what runs', () => [[labels, 1]]);
}
