import type { Logger } from 'pino';
import { clusterHandler } from './cluster-handler.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { type ClusterWatch, watchCluster } from './kube/watch-cluster.ts';
import type { Observers, PassRunner } from './observers.ts';
import { OwnNode } from './own-node.ts';
import { systemClock } from './queue/clock.ts';
import type { ServiceQueue } from './queue/service-queue.ts';
import { Recorder } from './replay/recorder.ts';
import { ChangeIntake } from './sync/change-intake.ts';
import type { ClusterRecord } from './sync/cluster-record.ts';

export interface FollowParts {
  readonly config: ProxyConfig;
  readonly transport: ApiTransport;
  readonly nodeName: string;
  readonly log: Logger;
  readonly observers: Observers;
  readonly record: ClusterRecord;
  readonly queue: ServiceQueue;
  readonly runner: PassRunner;
  /** File for a trace of what the cluster tells. */
  readonly recordTo: string | undefined;
  /** The own Node has not come in time; one line for a person. */
  readonly nodeMissing: (why: string) => void;
}

export interface FollowedCluster {
  readonly watch: ClusterWatch;
  /** Passes do not begin any more. */
  readonly close: () => void;
  /** Resolves when nothing is heard any more and the trace is complete. */
  readonly stop: () => Promise<void>;
}

/** Everything from a change in the cluster to the queue; passes begin once all is listed and the own Node is known. Nothing is asked for before `watch.start`. */
export function followCluster(parts: FollowParts): FollowedCluster {
  const { config, transport, nodeName, log, observers, record, queue, runner, recordTo, nodeMissing } = parts;
  const intake = observers.intake(new ChangeIntake(record, queue, config.queue.thresholds, observers.queueMetrics));
  const ownNode = new OwnNode({
    clock: systemClock,
    nodeName,
    needsPodRanges: config.detectLocal.mode === 'NodeCIDR',
    log,
    ready: () => {
      runner.request('start');
      runner.start();
    },
    gaveUp: nodeMissing,
  });
  const recorder = recordTo === undefined ? undefined : openRecorder(recordTo, log);
  const told = observers.handler(
    clusterHandler({ record, intake, runner, ownNode, log: log.child({ part: 'kube' }), nodeName }),
  );
  const handler = {
    ...told,
    listed: (late: readonly string[]) => {
      recorder?.listed();
      told.listed(late);
    },
    repeated: () => observers.queueMetrics.drop('same-version'),
  };
  const { otherNodes } = config;
  const pace = { clock: systemClock, random: Math.random, resyncMs: config.configSyncPeriodMs };
  const watch = watchCluster({
    transport,
    nodeName,
    otherNodes,
    handler,
    ...pace,
    ...(recorder ? { tap: (kind, type, object) => recorder.record(kind, type, object) } : {}),
  });
  observers.attachWatch(watch);
  return { watch, close: () => ownNode.stop(), stop: () => watch.stop().then(() => recorder?.close()) };
}

function openRecorder(file: string, log: Logger): Recorder {
  const trouble = (err: string) => log.warn({ err }, 'recording has ended; everything else goes on');
  return new Recorder({ file, clock: systemClock, trouble });
}
