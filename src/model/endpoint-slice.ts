import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import type { Protocol } from '../net/protocol.ts';
import type { ServiceName } from './names.ts';

/** What kernel state depends on in an EndpointSlice. */
export interface EndpointSlice {
  /** `namespace/name` of the slice itself. */
  readonly name: string;
  /** The Service it belongs to, by its label. */
  readonly service: ServiceName;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
  /** When its endpoints changed last, in milliseconds since 1970; absent when the slice does not tell. The kernel does not depend on it. */
  readonly changeTriggerMs?: number;
}

export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: Port;
}

/** An endpoint before it is joined with the ports of its slice. */
export interface SliceEndpoint {
  readonly address: IpAddress;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly nodeName: string | undefined;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}
