import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ServiceName } from '../model/names.ts';
import type { Family } from '../net/family.ts';

type TimesByService = Map<ServiceName, number[]>;

/**
 * When the endpoints changed that passes program, by what their slices say. Only changes count that were seen after the first list and
 * happened after it, so that a start measures nothing. Times wait until a pass of their family succeeds.
 *
 * Source: kubernetes/kubernetes pkg/proxy/endpointschangetracker.go
 */
export class TriggerTimes {
  readonly #waiting = new Map<Family, TimesByService>();
  /** Of slices that the pass in progress has, or the last one that failed. */
  readonly #inPass = new Map<Family, TimesByService>();
  #listedMs = Number.POSITIVE_INFINITY;

  /** The first list is complete; milliseconds since 1970. */
  listed(nowMs: number): void {
    this.#listedMs = nowMs;
  }

  /** A change that the kernel depends on. A slice that goes takes along what waits of its Service. */
  changed(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): void {
    if (!current && previous) this.#waiting.get(previous.family)?.delete(previous.service);
    const atMs = current?.changeTriggerMs;
    if (!current || atMs === undefined || atMs <= this.#listedMs) return;
    append(this.#waiting, current.family, current.service, [atMs]);
  }

  /** A pass begins and takes everything that waits. */
  passStarted(): void {
    for (const [family, services] of this.#waiting) {
      for (const [service, times] of services) append(this.#inPass, family, service, times);
    }
    this.#waiting.clear();
  }

  /** A pass of the family has succeeded. Gives how long each change took, in milliseconds. */
  programmed(family: Family, nowMs: number): readonly number[] {
    const times = [...(this.#inPass.get(family)?.values() ?? [])].flat();
    this.#inPass.delete(family);
    return times.map((time) => nowMs - time);
  }
}

function append(to: Map<Family, TimesByService>, family: Family, service: ServiceName, times: readonly number[]): void {
  const services = to.get(family) ?? new Map<ServiceName, number[]>();
  to.set(family, services);
  services.set(service, [...(services.get(service) ?? []), ...times]);
}
