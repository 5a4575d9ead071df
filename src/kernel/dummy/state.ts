import type { IpAddress } from '../../net/ip-address.ts';

/** The interface that holds the addresses of Services, so that their packets enter the node. It is never set up. */
export const DUMMY_INTERFACE = 'kube-ipvs0';

export interface DummyState {
  readonly exists: boolean;
  /** Bound addresses of one family, or of both; no loopback, no IPv6 link-local. */
  readonly addresses: ReadonlySet<IpAddress>;
}
