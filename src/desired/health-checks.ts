import type { ServiceName, ServicePortKey } from '../model/names.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import type { ServicePart } from './service-part.ts';

/** A port on which load balancers ask whether this node has endpoints of a Service. */
export interface HealthCheck {
  readonly service: ServiceName;
  readonly port: Port;
  /** Different addresses of ready endpoints on this node, over all ports of the Service. */
  readonly localEndpoints: number;
}

/** The checks of the Services that ask for one, kept while their ports come, change and go. */
export class HealthChecks {
  readonly #parts = new Map<ServiceName, Map<ServicePortKey, ServicePart>>();
  #all: readonly HealthCheck[] | undefined;

  /** One service port has taken the place of another one of the same key, or of none. */
  replace(key: ServicePortKey, old: ServicePart | undefined, now: ServicePart | undefined): void {
    if (old?.port.healthCheckNodePort !== undefined) this.#drop(old.port.service, key);
    if (now?.port.healthCheckNodePort === undefined) return;
    const parts = this.#parts.get(now.port.service) ?? new Map<ServicePortKey, ServicePart>();
    this.#parts.set(now.port.service, parts.set(key, now));
    this.#all = undefined;
  }

  /** One check for each Service that asks for one, sorted by Service; the same list until something has changed. */
  all(): readonly HealthCheck[] {
    this.#all ??= [...this.#parts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([service, parts]) => healthCheck(service, [...parts.values()]));
    return this.#all;
  }

  #drop(service: ServiceName, key: ServicePortKey): void {
    const parts = this.#parts.get(service);
    if (!parts?.delete(key)) return;
    if (parts.size === 0) this.#parts.delete(service);
    this.#all = undefined;
  }
}

function healthCheck(service: ServiceName, parts: readonly ServicePart[]): readonly HealthCheck[] {
  const port = parts.at(-1)?.port.healthCheckNodePort;
  if (port === undefined) return [];
  const local = new Set<IpAddress>();
  for (const { endpoints } of parts) {
    for (const endpoint of endpoints) if (endpoint.local && endpoint.ready) local.add(endpoint.address);
  }
  return [{ service, port, localEndpoints: local.size }];
}
