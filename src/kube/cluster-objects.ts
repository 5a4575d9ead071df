import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ClusterNode } from '../model/node-view.ts';
import type { Decoded, Problem } from '../model/problem.ts';
import type { Service, UnselectedService } from '../model/service.ts';
import { decodeNode } from './decode-node.ts';
import { decodeService } from './decode-service.ts';
import { decodeEndpointSlice } from './decode-slice.ts';
import { record, text } from './fields.ts';
import { SERVICE_SELECTION, SLICE_SELECTION } from './selectors.ts';
import { decodeUnselected } from './unselected-services.ts';

/** Objects that came as a whole, not by a watch. */
export interface ClusterObjects {
  readonly services: readonly Service[];
  /** What the API server would keep back; what is wrong with them is no concern of ours. */
  readonly unselected: readonly UnselectedService[];
  readonly slices: readonly EndpointSlice[];
  readonly nodes: readonly ClusterNode[];
  readonly problems: readonly Problem[];
  /** How many objects of kinds that do not concern us were passed over, by kind. */
  readonly ignored: ReadonlyMap<string, number>;
}

/**
 * Sorts objects by kind and decodes them. Lists are opened, selections are applied as the API server would, and of two objects with the
 * same name the later one counts, as with `kubectl apply`. One bad object never stops the others.
 */
export function decodeObjects(objects: readonly unknown[]): ClusterObjects {
  const services = new Map<string, Service>();
  const unselected = new Map<string, UnselectedService>();
  const slices = new Map<string, EndpointSlice>();
  const nodes = new Map<string, ClusterNode>();
  const problems: Problem[] = [];
  const ignored = new Map<string, number>();
  const put = <T extends { readonly name: string }>(into: Map<string, T>, { value, problems: own }: Decoded<T>) => {
    if (value) into.set(value.name, value);
    problems.push(...own);
  };
  for (const object of objects.flatMap(openList)) {
    const kind = kindOf(object);
    if (kind === 'v1 Service') {
      const other = decodeUnselected(object);
      if (other) {
        services.delete(other.service.name);
        unselected.set(other.service.name, other);
      } else if (SERVICE_SELECTION.selects(object)) put(services, decodeService(object));
    } else if (kind === 'discovery.k8s.io/v1 EndpointSlice') {
      if (SLICE_SELECTION.selects(object)) put(slices, decodeEndpointSlice(object));
    } else if (kind === 'v1 Node') {
      put(nodes, decodeNode(object));
    } else {
      ignored.set(kind, (ignored.get(kind) ?? 0) + 1);
    }
  }
  return {
    services: [...services.values()],
    unselected: [...unselected.values()].filter(({ service }) => !services.has(service.name)),
    slices: [...slices.values()],
    nodes: [...nodes.values()],
    problems,
    ignored,
  };
}

/** Lists may hold lists; items of `ServiceList` and the like may lack their own kind. */
function openList(object: unknown): readonly unknown[] {
  const { kind, apiVersion, items } = record(object);
  if (!Array.isArray(items)) return [object];
  const itemKind = text(kind)?.replace(/List$/, '');
  return items.flatMap((item) => openList(itemKind ? { apiVersion, kind: itemKind, ...record(item) } : item));
}

function kindOf(object: unknown): string {
  const { apiVersion, kind } = record(object);
  return `${text(apiVersion) ?? 'no apiVersion'} ${text(kind) ?? 'no kind'}`;
}
