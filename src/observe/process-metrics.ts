import { collectDefaultMetrics } from 'prom-client';
import type { MetricsRegistry } from './metrics-registry.ts';

/** What is in force; `scheduler` is the one that the kernel has. */
export interface InForce {
  readonly version: string;
  readonly behaviour: string;
  readonly scheduler: string;
}

/** `process_*` as every Prometheus client has them, `nodejs_*`, and what it is that runs. */
export function processMetrics(registry: MetricsRegistry, { version, behaviour, scheduler }: InForce): void {
  collectDefaultMetrics({ register: registry.registry });
  const labels = { version, node_version: process.version } as const;
  registry.read('gauge', 'ipvs_proxier_build_info', 'Always 1; the labels tell what runs', () => [[labels, 1]]);
  const inForce = { mode: 'ipvs', version, behaviour, scheduler } as const;
  registry.read('gauge', 'ipvs_proxier_info', 'Always 1; the labels tell the mode and what is in force', () => [
    [inForce, 1],
  ]);
}
