import { SET_DEFINITIONS, type SetId, setName } from '../kernel/ipset/definitions.ts';
import type { IpsetState } from '../kernel/ipset/state.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import type { Protocol } from '../net/protocol.ts';
import type { LocalDetector } from './node-inputs.ts';
import type { Behaviour } from './settings.ts';

/** What the rules of one family depend on; they do not grow with the number of Services, but for `closedToNode`. */
export interface RuleInputs {
  readonly family: Family;
  readonly behaviour: Behaviour;
  /** Sets that have entries. */
  readonly filled: ReadonlySet<SetId>;
  /** Bit pattern that asks for masquerading. */
  readonly mark: number;
  readonly masqueradeAll: boolean;
  readonly randomFully: boolean;
  readonly detector: LocalDetector | undefined;
  /** Tells the Pods of this node, where it is known how. */
  readonly ownPods: LocalDetector | undefined;
  /** Load-balancer frontends that the node itself may not use. */
  readonly closedToNode: readonly ClosedFrontend[];
}

export interface ClosedFrontend {
  readonly address: IpAddress;
  readonly protocol: Protocol;
  readonly port: Port;
}

/** Sets of the family that have entries. */
export function filledSets(sets: IpsetState, family: Family): ReadonlySet<SetId> {
  const filled = SET_DEFINITIONS.filter(({ id }) => (sets.get(setName(id, family))?.entries.size ?? 0) > 0);
  return new Set(filled.map(({ id }) => id));
}

/** What serves the old and the new sets alike while the kernel goes from one to the other: no entry loses its rules before it goes. */
export function meanwhile(wanted: RuleInputs, observed: IpsetState): RuleInputs {
  return { ...wanted, filled: wanted.filled.union(filledSets(observed, wanted.family)) };
}

export function byFrontend(a: ClosedFrontend, b: ClosedFrontend): number {
  return orderKey(a) < orderKey(b) ? -1 : 1;
}

function orderKey({ address, protocol, port }: ClosedFrontend): string {
  return `${address} ${protocol} ${port}`;
}
