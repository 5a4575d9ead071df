import type { ServiceName, ServicePortKey } from '../model/names.ts';
import { same } from '../model/same.ts';
import type { Service } from '../model/service.ts';
import type { ServicePort } from '../model/service-port.ts';
import type { Family } from '../net/family.ts';
import { type ServicePortMap, servicePorts } from './service-ports.ts';

/** Every service port, and what became of them since they were taken last. */
export interface TakenPorts {
  readonly ports: ReadonlyMap<ServicePortKey, ServicePort>;
  readonly changed: ReadonlySet<ServiceName>;
  readonly changedPorts: ReadonlySet<ServicePortKey>;
}

interface PendingChange {
  readonly previous: ServicePortMap | undefined;
  readonly current: ServicePortMap | undefined;
}

/**
 * Changes of Services since the last pass, for one family, and the map they are applied to. A change that is taken back before the pass
 * leaves nothing behind.
 *
 * Source: kubernetes/kubernetes pkg/proxy/servicechangetracker.go
 */
export class ServiceChanges {
  readonly #family: Family;
  readonly #pending = new Map<ServiceName, PendingChange>();
  readonly #ports = new Map<ServicePortKey, ServicePort>();
  readonly #served = new Set<ServiceName>();

  constructor(family: Family) {
    this.#family = family;
  }

  /** Number of Services with a change that no pass has taken yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /** True when the Service is served in the family, as of the last event; changes of other Services' endpoints lead to nothing. */
  serves(service: ServiceName): boolean {
    return this.#served.has(service);
  }

  /** Records an event; true when a pass is needed, be it for this event or for one before. */
  record(previous: Service | undefined, current: Service | undefined): boolean {
    const name = (current ?? previous)?.name;
    if (name === undefined) return false;
    const before = this.#pending.get(name);
    const change = {
      previous: before ? before.previous : previous && servicePorts(previous, this.#family),
      current: current && servicePorts(current, this.#family),
    };
    if (change.current) this.#served.add(name);
    else this.#served.delete(name);
    if (same(change.previous, change.current)) this.#pending.delete(name);
    else this.#pending.set(name, change);
    return this.#pending.size > 0;
  }

  /** Applies what is pending. The map of ports is live: a later call changes it. */
  take(): TakenPorts {
    const changed = new Set(this.#pending.keys());
    const changedPorts = new Set<ServicePortKey>();
    for (const { previous, current } of this.#pending.values()) {
      for (const key of previous?.keys() ?? []) {
        if (!current?.has(key) && this.#ports.delete(key)) changedPorts.add(key);
      }
      for (const [key, port] of current ?? []) {
        if (same(this.#ports.get(key), port)) continue;
        this.#ports.set(key, port);
        changedPorts.add(key);
      }
    }
    this.#pending.clear();
    return { ports: this.#ports, changed, changedPorts };
  }
}
