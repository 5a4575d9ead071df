import type { IpAddress } from '../../src/net/ip-address.ts';

/** What becomes of a packet. */
export type Outcome =
  /** It reaches a pod or a socket of the node. */
  | ({ readonly kind: 'delivered' } & Arrival)
  /** It leaves the node as it came, for somebody whom no virtual server of this node stands for. */
  | ({ readonly kind: 'forwarded' } & Arrival)
  /** The sender hears at once that nobody is there. `by` is a chain, IPVS, or the node where no socket listens. */
  | { readonly kind: 'refused' | 'dropped'; readonly by: string };

export interface Arrival {
  readonly destination: IpAddress;
  /** 0 for an echo request. */
  readonly port: number;
  /** Whom the receiver sees. */
  readonly source: IpAddress;
  readonly masqueraded: boolean;
  /** False when answers do not come back by way of this node, so that nothing undoes what it did: the sender waits in vain. */
  readonly answered: boolean;
}
