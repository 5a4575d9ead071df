import type { Family } from '../../src/net/family.ts';
import type { Lab } from './lab.ts';
import { clusterAddress, externalAddress, nodePort, type Offer, SERVICE_PORT } from './offers.ts';
import { countByServer, type Replies, type Target } from './traffic.ts';

/** Where a client dials a Service: at its cluster address, its external one, or the node port of a node. */
export type At = 'cluster' | 'external' | 'node-a' | 'node-b';

export function frontend(lab: Lab, offer: Offer, at: At, family: Family): Pick<Target, 'address' | 'port'> {
  if (at === 'cluster') return { address: clusterAddress(offer, family), port: SERVICE_PORT };
  if (at === 'external') return { address: externalAddress(offer, family), port: SERVICE_PORT };
  return { address: lab.node(at).addresses[family], port: nodePort(offer) };
}

/** The names of all that answered, and what happened instead, sorted. */
export function outcomes(replies: Replies): readonly string[] {
  return [...countByServer(replies).keys(), ...replies.troubles.keys()].sort();
}
