import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ClusterNode } from '../model/node-view.ts';
import type { Decoded, Problem } from '../model/problem.ts';
import type { Service } from '../model/service.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Clock } from '../queue/clock.ts';
import { type ApiError, describeApiError } from './client-errors.ts';
import type { ApiTransport } from './client-transport.ts';
import { decodeNode, decodeOtherNode } from './decode-node.ts';
import { decodeService } from './decode-service.ts';
import { decodeEndpointSlice } from './decode-slice.ts';
import { awaitFirstLists } from './first-lists.ts';
import { createInterner } from './interner.ts';
import { ListWatch } from './list-watch.ts';
import type { TapType } from './list-watch-cache.ts';
import type { ListWatchCounts } from './list-watch-counts.ts';
import { RequestPace } from './list-watch-pace.ts';
import type { WatchedResource } from './list-watch-requests.ts';
import { nodeSelection, otherNodesSelection, SERVICE_SELECTION, type Selection, SLICE_SELECTION } from './selectors.ts';

/** Who is told what happens in the cluster. Of a change, `previous` is absent for what is new, `current` for what has gone. */
export interface ClusterHandler {
  service(previous: Service | undefined, current: Service | undefined): void;
  slice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): void;
  node(previous: ClusterNode | undefined, current: ClusterNode | undefined): void;
  /** The addresses of one other Node. Also called when something else of that Node changed, so both may be the same. */
  otherNode(previous: readonly IpAddress[] | undefined, current: readonly IpAddress[] | undefined): void;
  /** Once, when every resource has been listed completely, but for those that are `late`: they are not waited for any longer. */
  listed(late: readonly string[]): void;
  problem(problem: Problem): void;
  /** An object came in the version in which it is known. */
  repeated?(): void;
  /** Requests for a resource began to fail, or fail in another way than before. */
  trouble(resource: string, message: string, retryInMs: number): void;
  recovered(resource: string): void;
}

export type ClusterTap = (kind: WatchedKind, type: TapType, object: unknown) => void;

export type WatchedKind = 'Service' | 'EndpointSlice' | 'Node';

export interface ClusterWatchOptions {
  readonly transport: ApiTransport;
  readonly nodeName: string;
  /** Whether it matters which addresses other Nodes have; that costs an event for every sign of life of each of them. */
  readonly otherNodes: 'watched' | 'ignored';
  readonly handler: ClusterHandler;
  /** Hears of every object as it comes, before the handler does; the items of lists lack kind and apiVersion. */
  readonly tap?: ClusterTap | undefined;
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** How often the handler is told of every object once more, as a change from itself to itself; absent: never. */
  readonly resyncMs?: number;
}

export interface ClusterWatch {
  start(): void;
  stop(): Promise<void>;
  /** What was done for each resource. */
  counts(): ReadonlyMap<string, ListWatchCounts>;
  /** The uid of Service `namespace/name`; `''` when it is not known. */
  serviceUid(service: string): string;
}

/** What the other Nodes are called where a resource is named. */
export const OTHER_NODES = 'other nodes';

/** How long the first pass is held back for the addresses of other Nodes. */
const OTHER_NODES_PATIENCE_MS = 10_000;

/** Watches Services, EndpointSlices and the own Node; the other Nodes by a watch of their own, so that nothing else depends on it. */
export function watchCluster({ nodeName, otherNodes, handler, tap, ...options }: ClusterWatchOptions): ClusterWatch {
  const firstLists = awaitFirstLists({
    clock: options.clock,
    needed: ['services', 'endpointslices', 'nodes'],
    wished: otherNodes === 'watched' ? [OTHER_NODES] : [],
    patienceMs: OTHER_NODES_PATIENCE_MS,
    done: (late) => handler.listed(late),
  });
  const pace = new RequestPace(options.clock);
  const intern = createInterner();
  const watch = <T>(
    kind: WatchedKind,
    name: string,
    path: string,
    selection: Selection,
    decode: (json: unknown) => Decoded<T>,
    changed: (previous: T | undefined, current: T | undefined) => void,
  ) =>
    new ListWatch<T>({
      ...options,
      pace,
      resource: resourceOf(name, path, selection),
      decode,
      ...(tap ? { tap: (type, object) => tap(kind, type, object) } : {}),
      handler: {
        changed,
        problem: (problem) => handler.problem(problem),
        repeated: () => handler.repeated?.(),
        listed: () => firstLists.listed(name),
        trouble: (error: ApiError, retryInMs: number) => handler.trouble(name, describeApiError(error), retryInMs),
        recovered: () => handler.recovered(name),
      },
    });
  const services = watch(
    'Service',
    'services',
    '/api/v1/services',
    SERVICE_SELECTION,
    decodeService,
    (previous, current) => handler.service(previous, current),
  );
  const watches: Watching[] = [
    services,
    watch(
      'EndpointSlice',
      'endpointslices',
      '/apis/discovery.k8s.io/v1/endpointslices',
      SLICE_SELECTION,
      (json) => decodeEndpointSlice(json, intern),
      (previous, current) => handler.slice(previous, current),
    ),
    watch('Node', 'nodes', '/api/v1/nodes', nodeSelection(nodeName), decodeNode, (previous, current) =>
      handler.node(previous, current),
    ),
  ];
  if (otherNodes === 'watched') {
    const selection = otherNodesSelection(nodeName);
    watches.push(
      watch('Node', OTHER_NODES, '/api/v1/nodes', selection, decodeOtherNode, (previous, current) =>
        handler.otherNode(previous, current),
      ),
    );
  }
  return {
    start: () => {
      for (const each of watches) each.start();
    },
    stop: async () => {
      firstLists.stop();
      await Promise.all(watches.map((each) => each.stop()));
    },
    counts: () => new Map(watches.map(({ name, counts }) => [name, counts])),
    serviceUid: (service) => services.uid(service),
  };
}

type Watching = Pick<ListWatch<never>, 'start' | 'stop' | 'counts' | 'name'>;

function resourceOf(name: string, path: string, { labelSelector, fieldSelector }: Selection): WatchedResource {
  return { name, path, ...(labelSelector ? { labelSelector } : {}), ...(fieldSelector ? { fieldSelector } : {}) };
}
