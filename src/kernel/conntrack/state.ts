import { formatAddressPort, type IpAddress } from '../../net/ip-address.ts';
import type { Port } from '../../net/port.ts';

declare const brand: unique symbol;

/** `172.20.1.1:53`: one end of a flow. */
export type FlowEndKey = string & { readonly [brand]: 'FlowEndKey' };

export interface FlowEnd {
  readonly address: IpAddress;
  readonly port: Port;
}

/** A UDP flow as the kernel tracks it. Who sends is left out: what is stale does not depend on it. */
export interface UdpFlow {
  /** Where its packets were sent to. */
  readonly to: FlowEnd;
  /** Who answers: the endpoint that was chosen, or `to` itself where no address was translated. */
  readonly answeredBy: FlowEnd;
}

/** Who may answer, by where packets are sent to. Flows to anywhere else do not concern us. */
export type FlowTargets = ReadonlyMap<FlowEndKey, ReadonlySet<FlowEndKey>>;

export function flowEndKey({ address, port }: FlowEnd): FlowEndKey {
  return formatAddressPort(address, port) as FlowEndKey;
}
