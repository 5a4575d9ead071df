import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { Service } from '../model/service.ts';
import { classify } from '../queue/classify.ts';
import type { QueueMetrics } from '../queue/queue-metrics.ts';
import type { ServiceQueue } from '../queue/service-queue.ts';
import type { LevelThresholds } from '../queue/settings.ts';
import type { ClusterRecord, Recorded } from './cluster-record.ts';

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

  service(previous: Service | undefined, current: Service | undefined): Recorded['kind'] {
    return this.#take(this.#record.service(previous, current));
  }

  slice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): Recorded['kind'] {
    return this.#take(this.#record.slice(previous, current));
  }

  #take(recorded: Recorded): Recorded['kind'] {
    if (recorded.kind !== 'material') this.#metrics.drop(recorded.kind);
    else for (const change of recorded.changes) this.#queue.add(classify(change, this.#thresholds));
    return recorded.kind;
  }
}
