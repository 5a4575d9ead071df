import type { ServiceName } from '../model/names.ts';
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

/** One check for each Service that asks for one, sorted by Service. */
export function healthChecks(parts: Iterable<ServicePart>): readonly HealthCheck[] {
  const ports = new Map<ServiceName, Port>();
  const local = new Map<ServiceName, Set<IpAddress>>();
  for (const { port, endpoints } of parts) {
    if (port.healthCheckNodePort === undefined) continue;
    ports.set(port.service, port.healthCheckNodePort);
    const addresses = local.get(port.service) ?? new Set();
    for (const endpoint of endpoints) if (endpoint.local && endpoint.ready) addresses.add(endpoint.address);
    local.set(port.service, addresses);
  }
  return [...ports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([service, port]) => ({ service, port, localEndpoints: local.get(service)?.size ?? 0 }));
}
