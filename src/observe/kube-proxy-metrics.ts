import type { Desired } from '../desired/desired.ts';
import type { ServiceName } from '../model/names.ts';
import type { Family } from '../net/family.ts';
import { type FinishedPass, resultOf } from './finished-pass.ts';
import type { HealthPath } from './health-answer.ts';
import { exponential, linear, type MetricsRegistry, type Sample } from './metrics-registry.ts';

export interface KubeProxySources {
  readonly families: readonly Family[];
  /** Changes that no pass has taken yet. */
  readonly pending: () => { readonly services: number; readonly slices: number };
  readonly wallMs: () => number;
}

/** kube-proxy's own metrics, as far as its ipvs mode has them: same names, types, labels and buckets. */
export type KubeProxyMetrics = ReturnType<typeof kubeProxyMetrics>;

/** Source: kubernetes/kubernetes pkg/proxy/metrics/metrics.go */
export function kubeProxyMetrics(registry: MetricsRegistry, { families, pending, wallMs }: KubeProxySources) {
  const sync = 'kubeproxy_sync_proxy_rules';
  const byFamily = ['ip_family'] as const;
  const duration = registry.histogram(
    `${sync}_duration_seconds`,
    '[ALPHA] Time of a pass, failed ones included',
    PASS_BUCKETS,
    byFamily,
  );
  const last = registry.gauge(
    `${sync}_last_timestamp_seconds`,
    '[ALPHA] End of the last pass that succeeded',
    byFamily,
  );
  const queued = registry.gauge(
    `${sync}_last_queued_timestamp_seconds`,
    '[ALPHA] When a pass was last asked for',
    byFamily,
  );
  const programming = registry.histogram(
    'kubeproxy_network_programming_duration_seconds',
    '[ALPHA] From a change of endpoints in the cluster to the end of the pass that programmed it',
    PROGRAMMING_BUCKETS,
    byFamily,
  );
  const slices = registry.counter(`${sync}_endpoint_changes_total`, '[ALPHA] Events of EndpointSlices');
  const services = registry.counter(`${sync}_service_changes_total`, '[ALPHA] Events of Services, once a family');
  const restores = registry.counter(
    `${sync}_iptables_restore_failures_total`,
    '[ALPHA] Failed starts of iptables-restore and ip6tables-restore',
    byFamily,
  );
  const flowTime = registry.histogram(
    'kubeproxy_conntrack_reconciler_sync_duration_seconds',
    '[ALPHA] Time of looking for stale UDP flows and ending them',
    PASS_BUCKETS,
    byFamily,
  );
  const flows = registry.counter(
    'kubeproxy_conntrack_reconciler_deleted_entries_total',
    '[ALPHA] Stale UDP flows that were ended',
    byFamily,
  );
  const requests: Readonly<Record<HealthPath, ReturnType<typeof registry.counter<'code'>>>> = {
    healthz: registry.counter('kubeproxy_proxy_healthz_total', '[ALPHA] Answers of /healthz by status', ['code']),
    livez: registry.counter('kubeproxy_proxy_livez_total', '[ALPHA] Answers of /livez by status', ['code']),
  };
  const desired = new Map<Family, Desired>();
  registry.read(
    'gauge',
    `${sync}_endpoint_changes_pending`,
    '[ALPHA] Changes of EndpointSlices for the next pass',
    () => [[{}, pending().slices]],
  );
  registry.read('gauge', `${sync}_service_changes_pending`, '[ALPHA] Changed Services for the next pass', () => [
    [{}, pending().services],
  ]);
  registry.read(
    'gauge',
    `${sync}_no_local_endpoints_total`,
    '[ALPHA] Services with policy Local and endpoints on other nodes only',
    () => [...desired].flatMap(([family, { parts }]) => withoutLocal(family, parts.values())),
  );
  for (const family of families) for (const counter of [restores, flows]) counter.inc({ ip_family: family }, 0);
  return {
    serviceEvent: () => services.inc(families.length),
    sliceEvent: () => slices.inc(),
    queued: () => {
      for (const family of families) queued.set({ ip_family: family }, wallMs() / 1000);
    },
    passed: (pass: FinishedPass) => {
      for (const family of families) {
        const labels = { ip_family: family };
        const finished = pass.families.find(({ state }) => state.family === family);
        duration.observe(labels, (finished ?? pass).tookMs / 1000);
        if (resultOf(pass, family) === 'succeeded') last.set(labels, wallMs() / 1000);
        if (finished?.state.desired) desired.set(family, finished.state.desired);
        flows.inc(labels, finished?.endedFlows ?? 0);
      }
    },
    programmed: (family: Family, latencyMs: number) => programming.observe({ ip_family: family }, latencyMs / 1000),
    restoreFailed: (family: Family) => restores.inc({ ip_family: family }),
    flowsCleared: (family: Family, tookMs: number) => flowTime.observe({ ip_family: family }, tookMs / 1000),
    answered: (path: HealthPath, status: number) => requests[path].inc({ code: String(status) }),
  };
}

function withoutLocal(
  family: Family,
  parts: Iterable<Desired['parts'] extends ReadonlyMap<string, infer Part> ? Part : never>,
): readonly Sample<'ip_family' | 'traffic_policy'>[] {
  const found = { internal: new Set<ServiceName>(), external: new Set<ServiceName>() };
  for (const { port, withoutLocal: policies } of parts) for (const policy of policies) found[policy].add(port.service);
  return (['internal', 'external'] as const).map((policy) => [
    { ip_family: family, traffic_policy: policy },
    found[policy].size,
  ]);
}

const PASS_BUCKETS = exponential(0.001, 2, 15);
const PROGRAMMING_BUCKETS = [0.25, 0.5, ...linear(1, 1, 59), ...linear(60, 5, 115), ...linear(120, 30, 300)];
