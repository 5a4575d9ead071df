import type { IpAddress } from '../../net/ip-address.ts';
import type { Port } from '../../net/port.ts';
import { type VirtualServer, virtualServerKey } from './state.ts';

/** The virtual server by which a scheduler is tried, at an address of no network. It is there for a moment and has no real servers. */
export const PROBE = { protocol: 'TCP', address: '198.51.100.0' as IpAddress, port: 20_000 as Port } as const;

export const PROBE_KEY = virtualServerKey(PROBE);

/** Whether it is the one that a killed process left. */
export function isProbe(server: VirtualServer): boolean {
  return virtualServerKey(server) === PROBE_KEY && server.realServers.length === 0;
}
