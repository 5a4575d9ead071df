import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ClusterNode } from '../model/node-view.ts';
import type { Decoded, Problem } from '../model/problem.ts';
import type { Service } from '../model/service.ts';
import type { Clock } from '../queue/clock.ts';
import { type ApiError, describeApiError } from './client-errors.ts';
import type { ApiTransport } from './client-transport.ts';
import { decodeNode } from './decode-node.ts';
import { decodeService } from './decode-service.ts';
import { decodeEndpointSlice } from './decode-slice.ts';
import { ListWatch, type WatchedResource } from './list-watch.ts';
import { nodeSelection, SERVICE_SELECTION, type Selection, SLICE_SELECTION } from './selectors.ts';

/** Who is told what happens in the cluster. Of a change, `previous` is absent for what is new, `current` for what has gone. */
export interface ClusterHandler {
  service(previous: Service | undefined, current: Service | undefined): void;
  slice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): void;
  node(previous: ClusterNode | undefined, current: ClusterNode | undefined): void;
  /** Once, when every resource has been listed completely. */
  listed(): void;
  problem(problem: Problem): void;
  /** Requests for a resource began to fail, or fail in another way than before. */
  trouble(resource: string, message: string, retryInMs: number): void;
  recovered(resource: string): void;
}

export interface ClusterWatchOptions {
  readonly transport: ApiTransport;
  readonly nodeName: string;
  readonly handler: ClusterHandler;
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

export interface ClusterWatch {
  start(): void;
  stop(): Promise<void>;
}

/** Watches Services, EndpointSlices and the own Node. */
export function watchCluster({ nodeName, handler, ...options }: ClusterWatchOptions): ClusterWatch {
  let unlisted = 3;
  const watch = <T>(
    name: string,
    path: string,
    selection: Selection,
    decode: (json: unknown) => Decoded<T>,
    changed: (previous: T | undefined, current: T | undefined) => void,
  ) =>
    new ListWatch<T>({
      ...options,
      resource: resourceOf(name, path, selection),
      decode,
      handler: {
        changed,
        problem: (problem) => handler.problem(problem),
        listed: () => {
          unlisted -= 1;
          if (unlisted === 0) handler.listed();
        },
        trouble: (error: ApiError, retryInMs: number) => handler.trouble(name, describeApiError(error), retryInMs),
        recovered: () => handler.recovered(name),
      },
    });
  const watches = [
    watch('services', '/api/v1/services', SERVICE_SELECTION, decodeService, (previous, current) =>
      handler.service(previous, current),
    ),
    watch(
      'endpointslices',
      '/apis/discovery.k8s.io/v1/endpointslices',
      SLICE_SELECTION,
      decodeEndpointSlice,
      (previous, current) => handler.slice(previous, current),
    ),
    watch('nodes', '/api/v1/nodes', nodeSelection(nodeName), decodeNode, (previous, current) =>
      handler.node(previous, current),
    ),
  ];
  return {
    start: () => {
      for (const each of watches) each.start();
    },
    stop: async () => {
      await Promise.all(watches.map((each) => each.stop()));
    },
  };
}

function resourceOf(name: string, path: string, { labelSelector, fieldSelector }: Selection): WatchedResource {
  return { name, path, ...(labelSelector ? { labelSelector } : {}), ...(fieldSelector ? { fieldSelector } : {}) };
}
