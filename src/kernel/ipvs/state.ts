import { familyOf, formatAddressPort, type IpAddress } from '../../net/ip-address.ts';
import type { Port } from '../../net/port.ts';
import type { Protocol } from '../../net/protocol.ts';

declare const brand: unique symbol;

/** `TCP 172.20.1.1:80`: what makes two virtual servers the same. */
export type VirtualServerKey = string & { readonly [brand]: 'VirtualServerKey' };

/** `10.180.0.1:8080`: what makes two real servers of one virtual server the same. */
export type RealServerKey = string & { readonly [brand]: 'RealServerKey' };

export type Forwarding = 'masquerade' | 'route' | 'tunnel' | 'local' | 'bypass';

/** One server behind a virtual server. */
export interface RealServer {
  readonly address: IpAddress;
  readonly port: Port;
  readonly forwarding: Forwarding;
  /** 0 takes no new connections. */
  readonly weight: number;
  /** Active and inactive connections together when it was read; absent in a wanted state, and when nobody has looked since it was written. */
  readonly connections?: number;
}

/** Address, port and protocol that clients dial, with the servers that answer. Marks (`-f`) are not virtual servers of ours. */
export interface VirtualServer {
  readonly protocol: Protocol;
  readonly address: IpAddress;
  readonly port: Port;
  readonly scheduler: string;
  /** As `ipvsadm -b` takes them, e.g. `mh-port`; `undefined` when the source of a reading does not tell. */
  readonly schedulerFlags: readonly string[] | undefined;
  /** Seconds that a client stays with its server; 0 without persistence. */
  readonly persistenceSeconds: number;
  /** No two at the same address and port; in the order in which they are to be added where they are wanted. */
  readonly realServers: readonly RealServer[];
}

/** All virtual servers of one family, or of both. */
export type IpvsState = ReadonlyMap<VirtualServerKey, VirtualServer>;

export function virtualServerKey(server: Pick<VirtualServer, 'protocol' | 'address' | 'port'>): VirtualServerKey {
  return `${server.protocol} ${formatAddressPort(server.address, server.port)}` as VirtualServerKey;
}

export function realServerKey(real: Pick<RealServer, 'address' | 'port'>): RealServerKey {
  return formatAddressPort(real.address, real.port) as RealServerKey;
}

/** The virtual servers of one family. */
export function ipvsOfFamily(state: IpvsState, family: 'IPv4' | 'IPv6'): IpvsState {
  const own = new Map<VirtualServerKey, VirtualServer>();
  for (const [key, server] of state) if (familyOf(server.address) === family) own.set(key, server);
  return own;
}
