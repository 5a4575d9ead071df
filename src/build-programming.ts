import type { Logger } from 'pino';
import { countedHost } from './apply/counted-host.ts';
import type { Host } from './apply/host.ts';
import { Kernel } from './apply/kernel.ts';
import type { GivenFlags } from './config/flag-values.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import type { HealthCheck } from './desired/health-checks.ts';
import type { ProxySettings } from './desired/settings.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import type { Family } from './net/family.ts';
import { memoryGiver } from './observe/give-back-memory.ts';
import type { Observers, PassRunner } from './observers.ts';
import { eventsInApi, type PassEvents } from './pass-events.ts';
import { BoundedFrequencyRunner } from './queue/bounded-frequency-runner.ts';
import { systemClock } from './queue/clock.ts';
import { DueRequests } from './queue/due-requests.ts';
import { ServiceQueue } from './queue/service-queue.ts';
import { Serving } from './serving.ts';
import { Canary } from './sync/canary.ts';
import type { ClusterRecord } from './sync/cluster-record.ts';
import { measuredKernel } from './sync/measured-kernel.ts';
import { PassLoop } from './sync/pass-loop.ts';
import { Proxier } from './sync/proxier.ts';

export interface ProgrammingParts {
  readonly config: ProxyConfig;
  readonly settings: ProxySettings;
  /** As given on the command line. */
  readonly flags: GivenFlags;
  readonly families: readonly Family[];
  readonly version: string;
  readonly nodeName: string;
  readonly host: Host;
  readonly transport: ApiTransport;
  readonly observers: Observers;
  readonly log: Logger;
  readonly setVerbosity: (verbosity: number) => void;
  /** Writes settings of the kernel again that were lost. */
  readonly keepSettings: () => Promise<void>;
  /** The uid of Service `namespace/name`; `''` when it is not known. */
  readonly serviceUid: (service: string) => string;
}

/** What turns recorded changes into passes, and those who hear of each pass. */
export interface Programming {
  /** Where changes of the cluster are recorded. */
  readonly record: ClusterRecord;
  readonly queue: ServiceQueue;
  /** For those who ask for passes; it runs none before `start`. */
  readonly runner: PassRunner;
  readonly events: PassEvents;
  /** Resolves when no Event waits to be stored, which may be never. */
  readonly eventsStored: () => Promise<void>;
  readonly serving: Serving;
  /** Notices what others flush; not started yet. */
  readonly canary: Canary;
  /** Settles when the runner has ended by itself. */
  readonly finished: Promise<void>;
  /** No Service is taken and no Event is stored from now on. */
  readonly close: () => void;
  /** Resolves when the pass in progress has ended. */
  readonly stop: () => Promise<void>;
}

/** Builds queue, runner, pass loop, proxier and kernel, each observed; nothing runs yet. */
export function buildProgramming(parts: ProgrammingParts): Programming {
  const { config, settings, families, nodeName, log, observers, transport, serviceUid } = parts;
  const { nowMs } = systemClock;
  const host = countedHost(parts.host, nowMs, (call) => observers.called(call));
  const kernel = measuredKernel(new Kernel(host, families, nowMs), nowMs, observers.kubeProxy.flowsCleared);
  const proxier = new Proxier({ families, nodeName, settings, draining: config.draining, kernel, nowMs });
  const boundedRunner = new BoundedFrequencyRunner({
    clock: systemClock,
    minIntervalMs: config.minSyncPeriodMs,
    maxIntervalMs: config.syncPeriodMs,
    burst: config.queue.runnerBurst,
    run: (reasons) => {
      observers.passStarted();
      return passes.run(reasons);
    },
  });
  const runner = observers.runner(boundedRunner);
  const queue = new ServiceQueue({
    clock: systemClock,
    random: Math.random,
    settings: config.queue,
    listener: new DueRequests(systemClock, runner),
    observer: observers.queueObserver,
  });
  const { record } = proxier;
  observers.attach({ record, queue });
  const {
    events,
    stored,
    stop: stopEvents,
  } = eventsInApi({
    transport,
    clock: systemClock,
    nodeName,
    log: log.child({ part: 'kube' }),
    serviceUid,
  });
  const healthCheckFailed = (check: HealthCheck, message: string) => events.healthPortFailed(check, message);
  const serving = new Serving({ ...parts, healthCheckFailed, proxier, host, clock: systemClock, wallMs: Date.now });
  const memory = memoryGiver({ clock: systemClock });
  const metrics = {
    ran: (...ran: Parameters<Observers['passed']>) => {
      observers.passed(...ran);
      events.passed(ran[0]);
      void serving.passed(ran[0]);
      if (ran[0].kind === 'full') memory.passed();
    },
  };
  const passes = new PassLoop({
    proxier,
    queue: events.queue(queue),
    metrics,
    log: log.child({ part: 'sync' }),
    nowMs,
    fullIntervalMs: config.syncPeriodMs,
  });
  const canary = new Canary({
    clock: systemClock,
    look: async () => {
      await parts.keepSettings();
      return proxier.findDrift();
    },
    drifted: (things) => {
      observers.drifted(things);
      runner.request('drift');
    },
    found: (things) => log.warn({ things }, 'somebody else has changed what is ours; it is mended'),
    trouble: (err) => log.warn({ err }, 'what others flush is noticed in full passes only'),
  });
  return {
    record,
    queue,
    canary,
    runner,
    events,
    eventsStored: stored,
    serving,
    finished: boundedRunner.finished,
    close: () => {
      queue.shutDown();
      stopEvents();
      memory.stop();
    },
    stop: () => boundedRunner.stop(),
  };
}
