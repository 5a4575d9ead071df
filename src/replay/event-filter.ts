import { decodeNode, decodeOtherNode } from '../kube/decode-node.ts';
import { decodeService } from '../kube/decode-service.ts';
import { decodeEndpointSlice } from '../kube/decode-slice.ts';
import { record, text } from '../kube/fields.ts';
import { ObjectCache } from '../kube/list-watch-cache.ts';
import { nodeSelection, SERVICE_SELECTION, type Selection, SLICE_SELECTION } from '../kube/selectors.ts';
import { readRawObject } from '../kube/watch-events.ts';
import type { Decoded, Problem } from '../model/problem.ts';
import { FAMILIES } from '../net/family.ts';
import { type Level, moreUrgent, type ServiceChange } from '../queue/change.ts';
import type { DropReason } from '../queue/queue-metrics.ts';
import type { LevelThresholds } from '../queue/settings.ts';
import { ChangeIntake } from '../sync/change-intake.ts';
import { ClusterRecord } from '../sync/cluster-record.ts';
import type { TraceEvent } from './trace-event.ts';

/** What an event comes to: nothing, changes of Services, or a reason for a pass because of a Node. */
export type Verdict =
  | { readonly kind: 'dropped'; readonly reason: DropReason }
  | { readonly kind: 'changes'; readonly level: Level; readonly changes: readonly ServiceChange[] }
  | { readonly kind: 'node'; readonly reason: 'node' | 'other nodes' };

export interface EventFilterOptions {
  /** `''` when the trace has no Node that counts as the own one. */
  readonly nodeName: string;
  readonly otherNodes: 'watched' | 'ignored';
  readonly thresholds: LevelThresholds;
  /** Is told what is wrong with an object. */
  readonly problem: (problem: Problem) => void;
}

/** The daemon's way of an event as far as the queue: selection, cache, decoding, record, classification. */
export class EventFilter {
  readonly record: ClusterRecord;
  readonly #options: EventFilterOptions;
  readonly #resources: Readonly<Record<'service' | 'slice' | 'own' | 'other', Resource>>;
  #changes: ServiceChange[] = [];
  #dropped: DropReason = 'not-ours';
  #nodeReason: 'node' | 'other nodes' | undefined;
  #services = 0;

  constructor(options: EventFilterOptions) {
    this.#options = options;
    const { nodeName, thresholds } = options;
    this.record = new ClusterRecord(FAMILIES, nodeName);
    const intake = new ChangeIntake(this.record, { add: (change) => this.#add(change) }, thresholds, {
      drop: (reason) => {
        this.#dropped = reason;
      },
    });
    this.#resources = {
      service: this.#resource(SERVICE_SELECTION, decodeService, (previous, current) =>
        intake.service(previous, current),
      ),
      slice: this.#resource(SLICE_SELECTION, decodeEndpointSlice, (previous, current) =>
        intake.slice(previous, current),
      ),
      own: this.#resource(nodeSelection(nodeName), decodeNode, (_, current) =>
        this.#needPass(current !== undefined && this.record.node(current), 'node'),
      ),
      other: this.#resource({ selects: () => true }, decodeOtherNode, (previous, current) =>
        this.#needPass(this.record.otherNode(previous, current), 'other nodes'),
      ),
    };
  }

  /** Services that are served as of the last event. */
  get services(): number {
    return this.#services;
  }

  judge(event: TraceEvent): Verdict {
    this.#changes = [];
    this.#dropped = 'not-ours';
    this.#nodeReason = undefined;
    this.#resourceOf(event)?.take(event);
    const [first, ...others] = this.#changes;
    if (this.#nodeReason) return { kind: 'node', reason: this.#nodeReason };
    if (!first) return { kind: 'dropped', reason: this.#dropped };
    const level = others.reduce((most, change) => moreUrgent(most, change.level), first.level);
    return { kind: 'changes', level, changes: this.#changes };
  }

  #resourceOf({ kind, object }: TraceEvent): Resource | undefined {
    if (kind === 'Service') return this.#resources.service;
    if (kind === 'EndpointSlice') return this.#resources.slice;
    const { nodeName, otherNodes } = this.#options;
    if (nodeName !== '' && text(record(object.metadata).name) === nodeName) return this.#resources.own;
    return otherNodes === 'watched' ? this.#resources.other : undefined;
  }

  #add(change: ServiceChange): true {
    this.#changes.push(change);
    if (change.kind === 'service-added') this.#services += 1;
    if (change.kind === 'service-removed') this.#services -= 1;
    return true;
  }

  #needPass(needed: boolean, reason: 'node' | 'other nodes'): void {
    if (needed) this.#nodeReason = reason;
    else this.#dropped = 'immaterial';
  }

  #resource<T>(
    selection: Selection,
    decode: (json: unknown) => Decoded<T>,
    changed: (previous: T | undefined, current: T | undefined) => void,
  ): Resource {
    const cache = new ObjectCache<T>(decode, {
      changed,
      problem: this.#options.problem,
      repeated: () => {
        this.#dropped = 'same-version';
      },
    });
    return { take: (event) => take(event, selection, cache) };
  }
}

interface Resource {
  readonly take: (event: TraceEvent) => void;
}

/** An object that is not selected any more is gone for those who selected it, as with the API server. */
function take<T>({ type, object }: TraceEvent, { selects }: Selection, cache: ObjectCache<T>): void {
  const raw = readRawObject(object);
  if (!raw) return;
  if (type === 'DELETED' || !selects(object)) cache.remove(raw.key);
  else cache.put(raw.key, cache.read(raw));
}
