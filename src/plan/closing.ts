import { setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, type SetEntry, withEntries } from '../kernel/ipset/state.ts';
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

/** What decides on an address that is not wanted any more. */
export interface ClosingRules {
  readonly staysBound: StaysBound;
  readonly isOurs: (address: IpAddress) => boolean;
  /** Entries by which the filter would refuse what comes for an address, and which the kernel does not take. */
  readonly refusedGuards: ReadonlySet<SetEntry>;
}

/**
 * Addresses that stay bound for a while, also where somebody has emptied the set that tells whose they are. Without their entry there they
 * go: whatever listens on the node would be open at them, and no other start of the program would know them.
 */
export function closingAddresses(
  desired: KernelState,
  observed: ObservedState,
  cut: readonly VirtualServer[],
  { staysBound, isOurs, refusedGuards }: ClosingRules,
): ReadonlySet<IpAddress> {
  if (staysBound === AT_ONCE || !desired.sets.has(setName(BOUND, desired.family))) return NONE;
  const cutOff = new Set(cut.map(({ address }) => address));
  const closing = [...observed.dummy.addresses].filter(
    (address) =>
      !desired.dummy.addresses.has(address) &&
      !refusedGuards.has(addressEntry(address)) &&
      staysBound(address, cutOff.has(address)) &&
      isOurs(address),
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
