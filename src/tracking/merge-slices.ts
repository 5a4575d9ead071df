import { type Endpoint, endpointKey } from '../model/endpoint.ts';
import type { EndpointSlice, SliceEndpoint } from '../model/endpoint-slice.ts';
import { type ServicePortKey, servicePortKey } from '../model/names.ts';
import type { Port } from '../net/port.ts';

export type EndpointsMap = ReadonlyMap<ServicePortKey, readonly Endpoint[]>;

/**
 * The endpoints of one Service out of all its slices, by port name and protocol, each list sorted by `ADDRESS:PORT`. Where the same
 * address and port stands more than once, one that is not terminating replaces one that is; otherwise the first one stays, in the order
 * of the slices' names. Keys without endpoints do not appear.
 *
 * Source: kubernetes/kubernetes pkg/proxy/endpointslicecache.go, pull request 135593
 */
export function mergeSlices(
  slices: Iterable<EndpointSlice>,
  nodeName: string,
  droppedDouble: DroppedDouble = ignoreDoubles,
): EndpointsMap {
  const merged = new Map<ServicePortKey, Endpoint[]>();
  // Lists are made in their final length: what is pushed one by one has room for 17.
  for (const slice of [...slices].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (slice.endpoints.length === 0) continue;
    for (const { name, protocol, port } of slice.ports) {
      const key = servicePortKey(slice.service, name, protocol);
      const endpoints = slice.endpoints.map((endpoint) => toEndpoint(endpoint, port, nodeName));
      merged.set(key, merged.get(key)?.concat(endpoints) ?? endpoints);
    }
  }
  for (const [key, endpoints] of merged) {
    const dropped = (endpoint: Endpoint) => droppedDouble(key, endpoint);
    merged.set(key, withoutDoubles(endpoints.sort(byAddressAndPort), dropped));
  }
  return merged;
}

/** Hears of each endpoint that does not count because its address and port stands more than once. */
type DroppedDouble = (key: ServicePortKey, endpoint: Endpoint) => void;

const ignoreDoubles: DroppedDouble = () => {};

/** Of neighbours with the same address and port one stays. */
function withoutDoubles(sorted: Endpoint[], dropped: (endpoint: Endpoint) => void): Endpoint[] {
  if (!sorted.some((endpoint, index) => isDouble(endpoint, sorted[index - 1]))) return sorted;
  const kept: Endpoint[] = [];
  for (const endpoint of sorted) {
    const last = kept.at(-1);
    if (!last || !isDouble(endpoint, last)) kept.push(endpoint);
    else if (last.terminating && !endpoint.terminating) {
      kept[kept.length - 1] = endpoint;
      dropped(last);
    } else dropped(endpoint);
  }
  return kept;
}

function isDouble({ address, port }: Endpoint, before: Endpoint | undefined): boolean {
  return before?.address === address && before.port === port;
}

function toEndpoint(endpoint: SliceEndpoint, port: Port, nodeName: string): Endpoint {
  return {
    address: endpoint.address,
    port,
    ready: endpoint.ready,
    serving: endpoint.serving,
    terminating: endpoint.terminating,
    local: endpoint.nodeName !== undefined && nodeName !== '' && endpoint.nodeName === nodeName,
    zoneHints: endpoint.zoneHints,
    nodeHints: endpoint.nodeHints,
  };
}

/** In the order of `ADDRESS:PORT` as text, which is made only where the addresses alone do not tell. */
export function byAddressAndPort(a: Endpoint, b: Endpoint): number {
  if (a.address === b.address && a.port === b.port) return 0;
  if (a.address === b.address || isBeginning(a.address, b.address)) return endpointKey(a) < endpointKey(b) ? -1 : 1;
  return a.address < b.address ? -1 : 1;
}

/** True when the shorter one is how the longer one begins. */
function isBeginning(a: string, b: string): boolean {
  return a.length < b.length ? b.startsWith(a) : a.length > b.length && a.startsWith(b);
}
