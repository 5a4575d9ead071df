import type { Endpoint } from '../model/endpoint.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ServiceName, ServicePortKey } from '../model/names.ts';
import { same } from '../model/same.ts';
import type { Family } from '../net/family.ts';
import { type EndpointsMap, mergeSlices } from './merge-slices.ts';

interface SlicesOfService {
  readonly applied: Map<string, EndpointSlice>;
  /** `undefined` stands for a removal. */
  readonly pending: Map<string, EndpointSlice | undefined>;
}

/**
 * Changes of EndpointSlices since the last pass, for one family, and the endpoints they are applied to. Slices are kept whether their
 * Service is known or not.
 *
 * Source: kubernetes/kubernetes pkg/proxy/endpointslicecache.go, endpointschangetracker.go
 */
export class EndpointChanges {
  readonly #family: Family;
  readonly #nodeName: string;
  readonly #services = new Map<ServiceName, SlicesOfService>();
  readonly #endpoints = new Map<ServicePortKey, readonly Endpoint[]>();

  constructor(family: Family, nodeName: string) {
    this.#family = family;
    this.#nodeName = nodeName;
  }

  /** Records an event; true when this event needs a pass. A slice that moves to another Service or family leaves the former one. */
  record(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): boolean {
    const moved = previous && current && (previous.service !== current.service || previous.family !== current.family);
    const left = previous && (moved || !current) ? this.#put(previous, undefined) : false;
    const entered = current ? this.#put(current, current) : false;
    return left || entered;
  }

  /** Applies what is pending; gives the names of the Services that changed. The map is live: a later call changes it. */
  take(): { readonly endpoints: EndpointsMap; readonly changed: ReadonlySet<ServiceName> } {
    const changed = new Set<ServiceName>();
    for (const [name, slices] of this.#services) {
      if (slices.pending.size === 0) continue;
      changed.add(name);
      const before = mergeSlices(slices.applied.values(), this.#nodeName);
      applyPending(slices);
      this.#replace(before, mergeSlices(slices.applied.values(), this.#nodeName));
      if (slices.applied.size === 0) this.#services.delete(name);
    }
    return { endpoints: this.#endpoints, changed };
  }

  #put(slice: EndpointSlice, content: EndpointSlice | undefined): boolean {
    if (slice.family !== this.#family) return false;
    const slices = this.#services.get(slice.service) ?? { applied: new Map(), pending: new Map() };
    const known = slices.pending.has(slice.name) ? slices.pending.get(slice.name) : slices.applied.get(slice.name);
    if (same(known, content)) return false;
    slices.pending.set(slice.name, content);
    this.#services.set(slice.service, slices);
    return true;
  }

  /** Lists that did not change keep their identity, so that nothing is computed anew for them. */
  #replace(before: EndpointsMap, after: EndpointsMap): void {
    for (const key of before.keys()) {
      if (!after.has(key)) this.#endpoints.delete(key);
    }
    for (const [key, endpoints] of after) {
      if (!same(this.#endpoints.get(key), endpoints)) this.#endpoints.set(key, endpoints);
    }
  }
}

function applyPending(slices: SlicesOfService): void {
  for (const [name, slice] of slices.pending) {
    if (slice) slices.applied.set(name, slice);
    else slices.applied.delete(name);
  }
  slices.pending.clear();
}
