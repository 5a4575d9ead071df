import type { Family } from '../net/family.ts';
import type { QueueObserver } from '../queue/queue-metrics.ts';
import { type FinishedPass, resultOf } from './finished-pass.ts';
import { exponential, type MetricsRegistry, type Sample } from './metrics-registry.ts';

/** Passes counted by what they were for. */
export interface PassNumbers {
  readonly byReason: Readonly<Record<string, number>>;
  readonly byLevel: Readonly<Record<string, number>>;
  /** Steps by tool that undid what somebody else had changed. */
  readonly repaired: Readonly<Record<string, number>>;
}

export interface PassSources {
  readonly families: readonly Family[];
  readonly numbers: () => PassNumbers;
}

/** One call to the kernel that has ended. */
export interface CountedCall {
  readonly tool: string;
  readonly operation: 'read' | 'write';
  readonly result: 'ok' | 'failed';
  readonly tookMs: number;
}

export type PassMetricsPage = ReturnType<typeof passMetricsPage>;

/** What passes do: our own metrics. */
export function passMetricsPage(registry: MetricsRegistry, { families, numbers }: PassSources) {
  const passes = registry.histogram('ipvs_proxier_pass_duration_seconds', 'Time of a pass', BUCKETS, [
    'kind',
    'result',
  ]);
  const reconciles = registry.histogram(
    'ipvs_proxier_reconcile_duration_seconds',
    'Time from taking work to its end: a Service in a pass, or the pass of a family',
    BUCKETS,
    ['controller', 'result'],
  );
  const calls = registry.counter('ipvs_proxier_kernel_calls_total', 'Calls to the kernel by tool, and how they ended', [
    'tool',
    'operation',
    'result',
  ]);
  const callTime = registry.histogram(
    'ipvs_proxier_kernel_call_duration_seconds',
    'Time of a call to the kernel',
    BUCKETS,
    ['tool', 'operation'],
  );
  const refusals = registry.counter('ipvs_proxier_refusals_total', 'Things of one Service that the kernel refused', [
    'kind',
  ]);
  const draining = registry.gauge(
    'ipvs_proxier_draining_real_servers',
    'Real servers that wait for their last connection',
    ['ip_family'],
  );
  const ended = registry.counter('ipvs_proxier_ended_udp_flows_total', 'Stale UDP flows that were ended', [
    'ip_family',
  ]);
  const bound = registry.gauge(
    'ipvs_proxier_bound_addresses',
    'Addresses on kube-ipvs0 as of the last pass that succeeded',
    ['ip_family'],
  );
  const servers = registry.gauge('ipvs_proxier_virtual_servers', 'Virtual servers wanted', ['ip_family']);
  const entries = (name: string, help: string, label: string, values: () => object) =>
    registry.read('counter', `ipvs_proxier_${name}`, help, () =>
      Object.entries(values()).map(([value, count]): Sample => [{ [label]: value }, Number(count)]),
    );
  entries('passes_by_reason_total', 'Passes by reason; one may have several', 'reason', () => numbers().byReason);
  entries('passes_by_level_total', 'Passes by the most urgent Service', 'level', () => numbers().byLevel);
  entries('drift_repairs_total', 'Steps that undid changes of others', 'tool', () => numbers().repaired);
  for (const family of families) ended.inc({ ip_family: family }, 0);
  for (const kind of REFUSABLE) refusals.inc({ kind }, 0);
  return {
    passed: (pass: FinishedPass) => {
      const result = pass.errors.length === 0 ? 'success' : 'error';
      passes.observe({ kind: pass.kind, result }, pass.tookMs / 1000);
      for (const { refused } of pass.refusals) refusals.inc({ kind: refused.kind });
      for (const family of families) {
        const finished = pass.families.find(({ state }) => state.family === family);
        const outcome = resultOf(pass, family) === 'succeeded' ? 'success' : 'error';
        reconciles.observe({ controller: family, result: outcome }, (finished ?? pass).tookMs / 1000);
        if (!finished) continue;
        const labels = { ip_family: family };
        ended.inc(labels, finished.endedFlows);
        if (finished.error !== undefined || !finished.plan) continue;
        draining.set(labels, finished.draining);
        bound.set(labels, finished.plan.after.dummy.addresses.size);
        servers.set(labels, finished.state.desired?.kernel.ipvs.size ?? 0);
      }
    },
    called: ({ tool, operation, result, tookMs }: CountedCall) => {
      for (const each of ['ok', 'failed']) calls.inc({ tool, operation, result: each }, each === result ? 1 : 0);
      callTime.observe({ tool, operation }, tookMs / 1000);
    },
    reconciled: (result: string, tookMs: number) =>
      reconciles.observe({ controller: 'services', result }, tookMs / 1000),
  };
}

/** Measures each Service's part of a pass, beside `then`, who is told of everything. */
export function measuredQueue(then: QueueObserver, reconciled: PassMetricsPage['reconciled']): QueueObserver {
  const startedMs = new Map<string, number>();
  return {
    event: (level, kind, joined) => then.event(level, kind, joined),
    retried: (sort, joined) => then.retried(sort, joined),
    taken: (service, level, why, waitedMs, nowMs) => {
      startedMs.set(service, nowMs);
      then.taken(service, level, why, waitedMs, nowMs);
    },
    finished: (service, outcome, nowMs) => {
      reconciled(outcome, nowMs - (startedMs.get(service) ?? nowMs));
      startedMs.delete(service);
      then.finished(service, outcome, nowMs);
    },
  };
}

const BUCKETS = exponential(0.001, 2, 15);
const REFUSABLE = ['virtual-server', 'real-server', 'address'] as const;
