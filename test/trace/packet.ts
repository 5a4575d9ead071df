import type { VirtualServer } from '../../src/kernel/ipvs/state.ts';
import type { IpAddress } from '../../src/net/ip-address.ts';
import type { Protocol } from '../../src/net/protocol.ts';

/** ICMP stands for an echo request, ICMPv6 included. */
export type PacketProtocol = Protocol | 'ICMP';

/** Conntrack's view: the first packet of a connection, or one of a connection that has seen answers. */
export type ConnectionState = 'NEW' | 'ESTABLISHED';

/** A packet at one point of its way. */
export interface Packet {
  readonly protocol: PacketProtocol;
  readonly source: IpAddress;
  readonly sourcePort: number;
  readonly destination: IpAddress;
  /** 0 for ICMP. */
  readonly port: number;
  readonly state: ConnectionState;
  /** Where it came in; `undefined` on its way out, where no rule sees an input interface. */
  readonly inputInterface: string | undefined;
  /** True when that interface is a bridge and its rules see bridged packets. */
  readonly fromBridgePort: boolean;
  readonly mark: number;
  /** The virtual server whose real server it was sent to. */
  readonly virtualServer: Pick<VirtualServer, 'protocol' | 'address' | 'port'> | undefined;
}
