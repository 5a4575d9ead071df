import type { Endpoint } from '../model/endpoint.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ServiceName, ServicePortKey } from '../model/names.ts';
import { same } from '../model/same.ts';
import type { Family } from '../net/family.ts';
import { type EndpointsMap, mergeSlices } from './merge-slices.ts';

/** The endpoints of every service port, and what became of them since they were taken last. */
export interface TakenEndpoints {
  readonly endpoints: EndpointsMap;
  readonly changed: ReadonlySet<ServiceName>;
  readonly changedPorts: ReadonlySet<ServicePortKey>;
}

interface SlicesOfService {
  /** In the order in which they came; few have more than one, for which a map takes three times the memory. */
  applied: readonly EndpointSlice[];
  /** What the next pass takes, if there is anything; `undefined` in it stands for a removal. */
  pending: Map<string, EndpointSlice | undefined> | undefined;
  /** Which service ports the last pass had endpoints of. */
  keys: readonly ServicePortKey[];
  /** What the next pass will have, once somebody asked for it while something is pending. */
  latest: EndpointsMap | undefined;
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
  readonly #touched = new Set<ServiceName>();
  #pending = 0;

  constructor(family: Family, nodeName: string) {
    this.#family = family;
    this.#nodeName = nodeName;
  }

  /** Number of changes since the last pass, those of one slice counted each. */
  get pending(): number {
    return this.#pending;
  }

  /** Records an event; true when this event needs a pass. A slice that moves to another Service or family leaves the former one. */
  record(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): boolean {
    const moved = previous && current && (previous.service !== current.service || previous.family !== current.family);
    const left = previous && (moved || !current) ? this.#put(previous, undefined) : false;
    const entered = current ? this.#put(current, current) : false;
    return left || entered;
  }

  /** The endpoints of one Service as the next pass will have them; empty when there are none. */
  latest(service: ServiceName): EndpointsMap {
    const slices = this.#services.get(service);
    if (!slices) return NO_ENDPOINTS;
    if (!slices.pending) return new Map(slices.keys.map((key) => [key, this.#endpoints.get(key) ?? []]));
    slices.latest ??= mergeSlices(withPending(slices.applied, slices.pending), this.#nodeName);
    return slices.latest;
  }

  /** Applies what is pending. The map of endpoints is live: a later call changes it. */
  take(): TakenEndpoints {
    const changed = new Set(this.#touched);
    const changedPorts = new Set<ServicePortKey>();
    this.#touched.clear();
    this.#pending = 0;
    for (const name of changed) {
      const slices = this.#services.get(name);
      if (!slices) continue;
      if (slices.pending) slices.applied = withPending(slices.applied, slices.pending);
      slices.pending = undefined;
      const latest = slices.latest ?? mergeSlices(slices.applied, this.#nodeName);
      this.#replace(slices.keys, latest, changedPorts);
      slices.keys = [...latest.keys()];
      slices.latest = undefined;
      if (slices.applied.length === 0) this.#services.delete(name);
    }
    return { endpoints: this.#endpoints, changed, changedPorts };
  }

  #put(slice: EndpointSlice, content: EndpointSlice | undefined): boolean {
    if (slice.family !== this.#family) return false;
    const slices = this.#services.get(slice.service) ?? newSlices();
    const known = slices.pending?.has(slice.name) ? slices.pending.get(slice.name) : appliedOf(slices, slice.name);
    if (same(known, content)) return false;
    slices.pending ??= new Map();
    slices.pending.set(slice.name, content);
    this.#pending += 1;
    this.#touched.add(slice.service);
    slices.latest = undefined;
    this.#services.set(slice.service, slices);
    return true;
  }

  /** Lists that did not change keep their identity, so that nothing is computed anew for them. */
  #replace(before: readonly ServicePortKey[], after: EndpointsMap, changedPorts: Set<ServicePortKey>): void {
    for (const key of before) {
      if (!after.has(key) && this.#endpoints.delete(key)) changedPorts.add(key);
    }
    for (const [key, endpoints] of after) {
      const known = this.#endpoints.get(key);
      if (known && same(known, endpoints)) continue;
      this.#endpoints.set(key, endpoints);
      changedPorts.add(key);
    }
  }
}

const NO_ENDPOINTS: EndpointsMap = new Map();

function newSlices(): SlicesOfService {
  return { applied: [], pending: undefined, keys: [], latest: undefined };
}

type Pending = ReadonlyMap<string, EndpointSlice | undefined>;

function appliedOf({ applied }: SlicesOfService, name: string): EndpointSlice | undefined {
  return applied.find((slice) => slice.name === name);
}

function withPending(applied: readonly EndpointSlice[], pending: Pending): readonly EndpointSlice[] {
  const slices = new Map(applied.map((slice) => [slice.name, slice]));
  for (const [name, slice] of pending) {
    if (slice) slices.set(name, slice);
    else slices.delete(name);
  }
  return [...slices.values()];
}
