import { ownSets, setName } from '../kernel/ipset/definitions.ts';
import { addressPortEntry, type IpSet, type SetEntry } from '../kernel/ipset/state.ts';
import {
  type IpvsState,
  type RealServerKey,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Plan } from './plan-sync.ts';

/** Something wanted that the kernel does not take. */
export type Refused =
  | { readonly kind: 'virtual-server'; readonly server: VirtualServerKey }
  | { readonly kind: 'real-server'; readonly server: VirtualServerKey; readonly real: RealServerKey }
  | { readonly kind: 'address'; readonly address: IpAddress }
  | { readonly kind: 'set-entry'; readonly set: string; readonly entry: SetEntry };

/** Which tool of a plan was refused something, and went on or stopped there. */
export interface Refusal {
  readonly refusedBy?: 'ipvs' | 'address' | 'ipset';
  /** Index of the part in the plan. */
  readonly part?: number;
  /** Line of its script at which the tool stopped, from 1; absent for one that goes on. */
  readonly line?: number;
}

/** E.g. `real server 10.0.0.255:80 of TCP 172.20.1.1:80`. */
export function describeRefused(refused: Refused): string {
  switch (refused.kind) {
    case 'virtual-server':
      return `virtual server ${refused.server}`;
    case 'real-server':
      return `real server ${refused.real} of ${refused.server}`;
    case 'set-entry':
      return `entry ${refused.entry} of set ${refused.set}`;
    default:
      return `address ${refused.address}`;
  }
}

/** What the tool was to add by `plan` and the kernel, read again after it ran, does not have; in the order of the plan. */
export function findRefused(plan: Plan, refusal: Refusal, observed: ObservedState): readonly Refused[] {
  const { refusedBy } = refusal;
  if (refusedBy === 'ipset') return refusedEntry(plan, refusal);
  return plan.parts.flatMap((part): readonly Refused[] => {
    if (part.tool === 'address' && refusedBy === 'address') {
      return part.steps.flatMap((step) =>
        step.kind === 'bind-address' && !observed.dummy.addresses.has(step.address)
          ? [{ kind: 'address', address: step.address }]
          : [],
      );
    }
    if (part.tool !== 'ipvs' || refusedBy !== 'ipvs') return [];
    return part.steps.flatMap((step): readonly Refused[] => {
      const server = virtualServerKey(step.server);
      const present = observed.ipvs.get(server);
      if (step.kind === 'add-virtual-server') return present ? [] : [{ kind: 'virtual-server', server }];
      if (step.kind !== 'add-real-server' || !present) return [];
      const real = realServerKey(step.real);
      return present.realServers.has(real) ? [] : [{ kind: 'real-server', server, real }];
    });
  });
}

/** `ipset` stops at the first line that is refused, and says which. */
function refusedEntry(plan: Plan, { part: index = 0, line = 0 }: Refusal): readonly Refused[] {
  const part = plan.parts[index];
  const step = part?.tool === 'ipset' ? part.steps[line - 1] : undefined;
  return step?.kind === 'add-entry' ? [{ kind: 'set-entry', set: step.set.name, entry: step.entry }] : [];
}

/**
 * Wants all but what is refused: one thing that the kernel does not take must not keep it from the rest. A virtual server takes along
 * its address, unless another one needs it; an address is not bound without the entry that guards it; and a virtual server that does not
 * stand yet does not come without the entry that keeps clients out.
 */
export function withoutRefused(desired: KernelState, refused: readonly Refused[], standing: IpvsState): KernelState {
  if (refused.length === 0) return desired;
  const servers = new Set<VirtualServerKey>();
  const addresses = new Set<IpAddress>();
  const reals = new Map<VirtualServerKey, Set<RealServerKey>>();
  const entries = new Map<string, Set<SetEntry>>();
  const guard = setName('IPVS-IPS', desired.family);
  for (const each of refused) {
    if (each.kind === 'virtual-server') servers.add(each.server);
    else if (each.kind === 'address') addresses.add(each.address);
    else if (each.kind === 'set-entry') {
      entries.set(each.set, (entries.get(each.set) ?? new Set()).add(each.entry));
      if (each.set === guard) addresses.add(each.entry as string as IpAddress);
    } else reals.set(each.server, (reals.get(each.server) ?? new Set()).add(each.real));
  }
  const open = [...ownSets(desired.family).closing].flatMap((name) => [...(entries.get(name) ?? [])]);
  const kept = [...desired.ipvs].filter(
    ([key, server]) => !servers.has(key) && (standing.has(key) || !open.includes(portalEntry(server))),
  );
  const ipvs = new Map(kept.map(([key, server]) => [key, withoutReals(server, reals.get(key))]));
  const served = new Set([...ipvs.values()].map(({ address }) => address));
  const bound = [...desired.dummy.addresses].filter((address) => served.has(address) && !addresses.has(address));
  const sets = new Map([...desired.sets].map(([name, set]) => [name, withoutEntries(set, entries.get(name))]));
  return { ...desired, ipvs, sets, dummy: { ...desired.dummy, addresses: new Set(bound) } };
}

function portalEntry({ address, protocol, port }: VirtualServer): SetEntry {
  return addressPortEntry(address, protocol, port);
}

function withoutEntries(set: IpSet, refused: ReadonlySet<SetEntry> | undefined): IpSet {
  return refused ? { ...set, entries: set.entries.difference(refused) } : set;
}

function withoutReals(server: VirtualServer, refused: ReadonlySet<RealServerKey> | undefined): VirtualServer {
  if (!refused) return server;
  return { ...server, realServers: new Map([...server.realServers].filter(([key]) => !refused.has(key))) };
}
