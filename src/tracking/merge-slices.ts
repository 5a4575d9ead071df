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
export function mergeSlices(slices: Iterable<EndpointSlice>, nodeName: string): EndpointsMap {
  const merged = new Map<ServicePortKey, Map<string, Endpoint>>();
  for (const slice of [...slices].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const port of slice.ports) {
      const key = servicePortKey(slice.service, port.name, port.protocol);
      const endpoints = merged.get(key) ?? new Map<string, Endpoint>();
      for (const endpoint of slice.endpoints) addEndpoint(endpoints, toEndpoint(endpoint, port.port, nodeName));
      if (endpoints.size > 0) merged.set(key, endpoints);
    }
  }
  return new Map([...merged].map(([key, endpoints]) => [key, sortByKey(endpoints)]));
}

function addEndpoint(endpoints: Map<string, Endpoint>, endpoint: Endpoint): void {
  const key = endpointKey(endpoint);
  const present = endpoints.get(key);
  if (!present || (present.terminating && !endpoint.terminating)) endpoints.set(key, endpoint);
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

function sortByKey(endpoints: ReadonlyMap<string, Endpoint>): readonly Endpoint[] {
  return [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}
