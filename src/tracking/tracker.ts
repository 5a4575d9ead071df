import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ServiceName, ServicePortKey } from '../model/names.ts';
import type { Service } from '../model/service.ts';
import type { ServicePort } from '../model/service-port.ts';
import type { Family } from '../net/family.ts';
import { describeEndpointChange, type MaterialChange } from './describe-change.ts';
import { EndpointChanges } from './endpoint-changes.ts';
import type { EndpointsMap } from './merge-slices.ts';
import { ServiceChanges } from './service-changes.ts';

/** What a pass works on: every service port and its endpoints in one family, and what of them changed since the last one. */
export interface Tracked {
  readonly family: Family;
  readonly ports: ReadonlyMap<ServicePortKey, ServicePort>;
  readonly endpoints: EndpointsMap;
  readonly changed: ReadonlySet<ServiceName>;
  /** Service ports that came, went, or have other facts or endpoints; some may be without a Service. */
  readonly changedPorts: ReadonlySet<ServicePortKey>;
}

/** Services and EndpointSlices of one family between the events that change them and the passes that use them. */
export class Tracker {
  readonly #family: Family;
  readonly #services: ServiceChanges;
  readonly #endpoints: EndpointChanges;

  constructor(family: Family, nodeName: string) {
    this.#family = family;
    this.#services = new ServiceChanges(family);
    this.#endpoints = new EndpointChanges(family, nodeName);
  }

  /** What waits for the next pass: Services that have changed, and changes of slices. */
  get pending(): { readonly services: number; readonly slices: number } {
    return { services: this.#services.pending, slices: this.#endpoints.pending };
  }

  /** True when a pass is needed. */
  recordService(previous: Service | undefined, current: Service | undefined): boolean {
    return this.#services.record(previous, current);
  }

  /** True when a pass is needed. */
  recordSlice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): boolean {
    return this.#endpoints.record(previous, current);
  }

  /** Records an event and tells what it changes: for two Services when the slice moves, for none when nothing material does. */
  recordSliceChange(
    previous: EndpointSlice | undefined,
    current: EndpointSlice | undefined,
  ): readonly MaterialChange[] {
    const ours = [previous, current].filter((slice) => slice?.family === this.#family);
    if (ours.length === 0) return [];
    const services = [...new Set(ours.flatMap((slice) => slice?.service ?? []))];
    const before = services.map((service) => [service, this.#endpoints.latest(service)] as const);
    if (!this.#endpoints.record(previous, current)) return [];
    return before.flatMap(
      ([service, endpoints]) => describeEndpointChange(service, endpoints, this.#endpoints.latest(service)) ?? [],
    );
  }

  serves(service: ServiceName): boolean {
    return this.#services.serves(service);
  }

  /** The endpoints of one Service as the next pass will have them. */
  latestEndpoints(service: ServiceName): EndpointsMap {
    return this.#endpoints.latest(service);
  }

  /** Applies every pending change, at a cost that follows what changed. The maps are live: a later call changes them. */
  takePendingChanges(): Tracked {
    const services = this.#services.take();
    const endpoints = this.#endpoints.take();
    return {
      family: this.#family,
      ports: services.ports,
      endpoints: endpoints.endpoints,
      changed: services.changed.union(endpoints.changed),
      changedPorts: services.changedPorts.union(endpoints.changedPorts),
    };
  }
}
