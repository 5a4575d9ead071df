import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { Service } from '../model/service.ts';
import { classify } from '../queue/classify.ts';
import type { DropReason, QueueMetrics } from '../queue/queue-metrics.ts';
import type { ServiceQueue } from '../queue/service-queue.ts';
import type { LevelThresholds } from '../queue/settings.ts';
import type { ClusterRecord, Recorded } from './cluster-record.ts';

/** What became of an event: into the queue, or why not. */
export type Taken = 'material' | DropReason;

/** A resync tells of the object that is known. */
const REPEATED = { kind: 'same-version' } as const;

/** The way of an event into the queue: recorded, dropped where the kernel does not depend on it, else classified and queued. */
export class ChangeIntake {
  readonly #record: Pick<ClusterRecord, 'service' | 'slice'>;
  readonly #queue: Pick<ServiceQueue, 'add'>;
  readonly #thresholds: LevelThresholds;
  readonly #metrics: Pick<QueueMetrics, 'drop'>;

  constructor(
    record: Pick<ClusterRecord, 'service' | 'slice'>,
    queue: Pick<ServiceQueue, 'add'>,
    thresholds: LevelThresholds,
    metrics: Pick<QueueMetrics, 'drop'>,
  ) {
    this.#record = record;
    this.#queue = queue;
    this.#thresholds = thresholds;
    this.#metrics = metrics;
  }

  service(previous: Service | undefined, current: Service | undefined): Taken {
    return this.#take(previous === current ? REPEATED : this.#record.service(previous, current));
  }

  slice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): Taken {
    return this.#take(previous === current ? REPEATED : this.#record.slice(previous, current));
  }

  #take(recorded: Recorded | typeof REPEATED): Taken {
    if (recorded.kind !== 'material') this.#metrics.drop(recorded.kind);
    else for (const change of recorded.changes) this.#queue.add(classify(change, this.#thresholds));
    return recorded.kind;
  }
}
