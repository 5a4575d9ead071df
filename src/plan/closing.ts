import { setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, withEntries } from '../kernel/ipset/state.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';

/**
 * Says whether an address that is not wanted any more stays bound for a while, so that the node answers what still comes for connections to
 * it. `isCut`: a virtual server of it is about to be deleted although connections may be open.
 */
export type StaysBound = (address: IpAddress, isCut: boolean) => boolean;

/** Every address goes with its virtual servers. */
export const AT_ONCE: StaysBound = () => false;

/** Addresses that stay bound for a while; only those that a set tells to be ours, and so tells another start of the program too. */
export function closingAddresses(
  desired: KernelState,
  observed: ObservedState,
  cut: readonly VirtualServer[],
  staysBound: StaysBound,
): ReadonlySet<IpAddress> {
  if (staysBound === AT_ONCE) return NONE;
  const boundByUs = observed.sets.get(setName(BOUND, desired.family))?.entries;
  const cutOff = new Set(cut.map(({ address }) => address));
  const closing = [...observed.dummy.addresses].filter(
    (address) =>
      !desired.dummy.addresses.has(address) &&
      boundByUs?.has(addressEntry(address)) &&
      staysBound(address, cutOff.has(address)),
  );
  return closing.length === 0 ? NONE : new Set(closing);
}

const NONE: ReadonlySet<IpAddress> = new Set();
const BOUND = 'IPVS-IPS';

/** Wants these addresses, and the entries by which the filter refuses whatever comes for them. */
export function withClosing(desired: KernelState, addresses: ReadonlySet<IpAddress>): KernelState {
  const name = setName(BOUND, desired.family);
  const set = desired.sets.get(name);
  if (addresses.size === 0 || !set) return desired;
  const entries = new Set(set.entries).union(new Set([...addresses].map(addressEntry)));
  return {
    ...desired,
    sets: new Map(desired.sets).set(name, withEntries(set, entries)),
    dummy: { ...desired.dummy, addresses: desired.dummy.addresses.union(addresses) },
  };
}
