import type { KernelCall } from './apply/counted-host.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import type { ClusterHandler, ClusterWatch } from './kube/watch-cluster.ts';
import type { Family } from './net/family.ts';
import { type ApiSample, apiMetrics } from './observe/api-metrics.ts';
import { resultOf } from './observe/finished-pass.ts';
import { formatTime } from './observe/health-answer.ts';
import { type KubeProxyMetrics, kubeProxyMetrics } from './observe/kube-proxy-metrics.ts';
import { MetricsRegistry } from './observe/metrics-registry.ts';
import { measuredQueue, type PassMetricsPage, passMetricsPage } from './observe/pass-metrics-page.ts';
import { processMetrics } from './observe/process-metrics.ts';
import { ProxyHealth } from './observe/proxy-health.ts';
import { queueMetricsPage } from './observe/queue-metrics-page.ts';
import { TriggerTimes } from './observe/trigger-times.ts';
import { watchMetricsPage } from './observe/watch-metrics-page.ts';
import type { BoundedFrequencyRunner } from './queue/bounded-frequency-runner.ts';
import type { TakenService } from './queue/queue-entry.ts';
import { QueueMetrics, type QueueObserver } from './queue/queue-metrics.ts';
import type { ServiceQueue } from './queue/service-queue.ts';
import type { ChangeIntake } from './sync/change-intake.ts';
import type { ClusterRecord } from './sync/cluster-record.ts';
import { type ObservedStatus, observedStatus } from './sync/observed-status.ts';
import { PassHistory } from './sync/pass-history.ts';
import { PassMetrics } from './sync/pass-metrics.ts';
import type { PassReport } from './sync/proxier.ts';
import { Repairs } from './sync/repairs.ts';

/** Runs passes, from `start` on. */
export type PassRunner = Pick<BoundedFrequencyRunner, 'request' | 'start'>;

export interface ObserversParts {
  readonly config: Pick<ProxyConfig, 'behaviour' | 'syncPeriodMs'>;
  readonly families: readonly Family[];
  readonly version: string;
  /** The one that the kernel has, which need not be the one that was asked for. */
  readonly scheduler: string;
  readonly nowMs: () => number;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
}

/** What is asked when somebody looks at the metrics. */
export interface ObservedParts {
  readonly record: Pick<ClusterRecord, 'pending'>;
  readonly queue: Pick<ServiceQueue, 'quarantined' | 'waiting'>;
}

/** Everything that watches the program at work: its health, and its metrics. Each part of the program is observed from outside. */
export class Observers {
  readonly registry = new MetricsRegistry();
  readonly health: ProxyHealth;
  readonly kubeProxy: KubeProxyMetrics;
  readonly queueMetrics = new QueueMetrics();
  /** For the queue. */
  readonly queueObserver: QueueObserver;
  /** For the transport. */
  readonly apiRequest: (sample: ApiSample) => void;
  readonly #parts: ObserversParts;
  readonly #passes: PassMetricsPage;
  readonly #numbers = new PassMetrics();
  readonly #repairs = new Repairs();
  readonly #triggers = new TriggerTimes();
  readonly #history = new PassHistory();
  /** What requests for a resource fail with, while they do. */
  readonly #troubles = new Map<string, string>();
  #observed: ObservedParts | undefined;
  #watch: Pick<ClusterWatch, 'counts'> | undefined;

  constructor(parts: ObserversParts) {
    const { config, families, version, scheduler, nowMs, wallMs } = parts;
    this.#parts = parts;
    this.health = new ProxyHealth({
      families,
      staleAfterMs: 2 * config.syncPeriodMs,
      rule: config.behaviour === 'documented' ? 'strict' : 'kube-proxy',
      wallMs,
      nowMs,
    });
    this.kubeProxy = kubeProxyMetrics(this.registry, {
      families,
      pending: () => this.#observed?.record.pending() ?? NOTHING_PENDING,
      wallMs,
    });
    this.#passes = passMetricsPage(this.registry, {
      families,
      numbers: () => ({ ...this.#numbers.read(), repaired: this.#repairs.read() }),
    });
    queueMetricsPage(this.registry, {
      read: () => this.queueMetrics.read(nowMs()),
      quarantined: () => this.#observed?.queue.quarantined().length ?? 0,
    });
    watchMetricsPage(this.registry, {
      counts: () => this.#watch?.counts() ?? new Map(),
      wallMsOf: (clockMs) => wallMs() - (nowMs() - clockMs),
    });
    this.queueObserver = measuredQueue(this.queueMetrics, this.#passes.reconciled);
    this.apiRequest = apiMetrics(this.registry);
    processMetrics(this.registry, { version, behaviour: config.behaviour, scheduler });
  }

  /** Says who is asked, once these parts are there. */
  attach(observed: ObservedParts): void {
    this.#observed = observed;
  }

  /** Says what follows the cluster, once it is there. */
  attachWatch(watch: Pick<ClusterWatch, 'counts'>): void {
    this.#watch = watch;
  }

  /** A call to the kernel has ended. */
  called(call: KernelCall): void {
    this.#passes.called(call);
    if (call.result === 'ok') return;
    if (call.tool === 'iptables-restore') this.kubeProxy.restoreFailed('IPv4');
    if (call.tool === 'ip6tables-restore') this.kubeProxy.restoreFailed('IPv6');
  }

  /** The way of events into the queue, counted. */
  intake(inner: Pick<ChangeIntake, 'service' | 'slice'>): Pick<ChangeIntake, 'service' | 'slice'> {
    return {
      service: (previous, current) => {
        this.kubeProxy.serviceEvent();
        return inner.service(previous, current);
      },
      slice: (previous, current) => {
        this.kubeProxy.sliceEvent();
        const kind = inner.slice(previous, current);
        if (kind === 'material') this.#triggers.changed(previous, current);
        return kind;
      },
    };
  }

  /** What happens to the own Node and to the first lists is heard before the handler hears of it. */
  handler(inner: ClusterHandler): ClusterHandler {
    return {
      ...inner,
      node: (previous, current) => {
        this.health.node(current);
        inner.node(previous, current);
      },
      listed: (late) => {
        this.#triggers.listed(this.#parts.wallMs());
        inner.listed(late);
      },
      trouble: (resource, message, retryInMs) => {
        this.#troubles.set(resource, message);
        inner.trouble(resource, message, retryInMs);
      },
      recovered: (resource) => {
        this.#troubles.delete(resource);
        inner.recovered(resource);
      },
    };
  }

  /** Somebody else has changed what is ours. */
  drifted(things: readonly string[]): void {
    this.#history.drifted(things, formatTime(this.#parts.wallMs()));
  }

  /** For `/status`. */
  status(): ObservedStatus {
    const { families, scheduler, nowMs, wallMs } = this.#parts;
    const wallMsOf = (clockMs: number) => wallMs() - (nowMs() - clockMs);
    const { byKind, failed } = this.#numbers.read();
    return observedStatus({
      families,
      scheduler,
      health: this.health,
      history: this.#history,
      passes: { ...byKind, failed },
      repaired: this.#repairs.read(),
      waiting: this.#observed?.queue.waiting() ?? [],
      quarantined: this.#observed?.queue.quarantined() ?? [],
      resources: this.#watch?.counts() ?? new Map(),
      troubles: this.#troubles,
      nowMs: nowMs(),
      wallMsOf,
    });
  }

  /** The runner, whose start and requests are noted. */
  runner(inner: PassRunner): PassRunner {
    return {
      request: (reason) => {
        this.health.queued();
        this.kubeProxy.queued();
        inner.request(reason);
      },
      start: () => {
        this.health.started();
        this.kubeProxy.queued();
        inner.start();
      },
    };
  }

  passStarted(): void {
    this.#triggers.passStarted();
  }

  passed(report: PassReport, taken: readonly TakenService[]): void {
    const { families, wallMs } = this.#parts;
    this.#numbers.ran(report, taken);
    this.#repairs.ran(report);
    this.#history.ran(report, taken, formatTime(wallMs()));
    for (const family of families) {
      const result = resultOf(report, family);
      this.health.ended(family, result);
      if (result === 'failed') continue;
      for (const latencyMs of this.#triggers.programmed(family, wallMs())) this.kubeProxy.programmed(family, latencyMs);
    }
    this.kubeProxy.passed(report);
    this.#passes.passed(report);
  }
}

const NOTHING_PENDING = { services: 0, slices: 0 } as const;
