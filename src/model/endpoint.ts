import { formatAddressPort, type IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';

/** One address and port that answers for a service port, with the conditions the API gives it. */
export interface Endpoint {
  readonly address: IpAddress;
  readonly port: Port;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** True when the endpoint runs on this node. */
  readonly local: boolean;
  /** Zones that the endpoint is meant for; empty without hints. */
  readonly zoneHints: readonly string[];
  /** Nodes that the endpoint is meant for; empty without hints. */
  readonly nodeHints: readonly string[];
}

/** `ADDRESS:PORT`: what makes two endpoints of a service port the same. */
export function endpointKey(endpoint: Endpoint): string {
  return formatAddressPort(endpoint.address, endpoint.port);
}
