import type { Touched } from '../desired/touched.ts';
import { type SetId, setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, type SetEntry, withEntries } from '../kernel/ipset/state.ts';
import type { KeptServer } from '../kernel/ipvs/diff.ts';
import { type VirtualServer, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { ledgerEntries } from './ownership.ts';

/**
 * Wants what stands of the virtual servers that linger, or that the kernel does not let go of: their address, without which no packet comes,
 * and the entries that say whose they are, so that another start of the program knows them too. `ownAddresses`: of the node's own interfaces,
 * where packets come without us; with the entry that guards an address of ours nobody would reach anything else of the node there. That entry
 * is wanted also where somebody has taken it away, unless it is one of `refusedGuards`, which the kernel does not take.
 */
export function withLingering(
  desired: KernelState,
  observed: ObservedState,
  kept: readonly KeptServer[],
  ownAddresses: readonly IpAddress[],
  refusedGuards: ReadonlySet<SetEntry>,
): KernelState {
  const lingering = kept.flatMap(({ why, server }) => (why === 'lingering' || why === 'refused' ? [server] : []));
  if (lingering.length === 0) return desired;
  const bound = lingering
    .map(({ address }) => address)
    .filter((address) => observed.dummy.addresses.has(address) && !ownAddresses.includes(address));
  const guards = new Set(ownAddresses.map(addressEntry));
  const sets = new Map(desired.sets);
  const guard = sets.get(setName(GUARD, desired.family));
  const guarded = bound.map(addressEntry).filter((entry) => !refusedGuards.has(entry));
  if (guard && guarded.length > 0) sets.set(guard.name, withEntries(guard, new Set([...guard.entries, ...guarded])));
  for (const [id, entry] of lingering.flatMap(ledgerEntries)) {
    const name = setName(id, desired.family);
    const set = sets.get(name);
    if (id === GUARD && guards.has(entry)) continue;
    if (set && observed.sets.get(name)?.entries.has(entry)) {
      sets.set(name, withEntries(set, new Set(set.entries).add(entry)));
    }
  }
  return {
    ...desired,
    sets,
    dummy: { ...desired.dummy, addresses: desired.dummy.addresses.union(new Set(bound)) },
  };
}

/** Keeps the rest of the node from being reached by way of a Service's address. */
const GUARD: SetId = 'IPVS-IPS';

/** What has to be looked at to see whether they may go. */
export function touchedBy(servers: readonly VirtualServer[]): Touched {
  return {
    servers: new Set(servers.map(virtualServerKey)),
    addresses: new Set(servers.map(({ address }) => address)),
    entries: new Set<SetEntry>(servers.flatMap((server) => ledgerEntries(server).map(([, entry]) => entry))),
    rules: false,
  };
}
