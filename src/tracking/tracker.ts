import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ServiceName, ServicePortKey } from '../model/names.ts';
import type { Service } from '../model/service.ts';
import type { ServicePort } from '../model/service-port.ts';
import type { Family } from '../net/family.ts';
import { EndpointChanges } from './endpoint-changes.ts';
import type { EndpointsMap } from './merge-slices.ts';
import { ServiceChanges } from './service-changes.ts';

/** What a pass works on: every service port and its endpoints in one family, and which Services changed since the last one. */
export interface Tracked {
  readonly family: Family;
  readonly ports: ReadonlyMap<ServicePortKey, ServicePort>;
  readonly endpoints: EndpointsMap;
  readonly changed: ReadonlySet<ServiceName>;
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

  /** True when a pass is needed. */
  recordService(previous: Service | undefined, current: Service | undefined): boolean {
    return this.#services.record(previous, current);
  }

  /** True when a pass is needed. */
  recordSlice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): boolean {
    return this.#endpoints.record(previous, current);
  }

  /** Applies every pending change. The maps are live: a later call changes them. */
  takePendingChanges(): Tracked {
    const services = this.#services.take();
    const endpoints = this.#endpoints.take();
    return {
      family: this.#family,
      ports: services.ports,
      endpoints: endpoints.endpoints,
      changed: new Set([...services.changed, ...endpoints.changed]),
    };
  }
}
