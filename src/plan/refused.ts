import {
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
  | { readonly kind: 'address'; readonly address: IpAddress };

/** E.g. `real server 10.0.0.255:80 of TCP 172.20.1.1:80`. */
export function describeRefused(refused: Refused): string {
  switch (refused.kind) {
    case 'virtual-server':
      return `virtual server ${refused.server}`;
    case 'real-server':
      return `real server ${refused.real} of ${refused.server}`;
    default:
      return `address ${refused.address}`;
  }
}

/** What the tool was to add by `plan` and the kernel, read again after it ran, does not have; in the order of the plan. */
export function findRefused(plan: Plan, refusedBy: 'ipvs' | 'address', observed: ObservedState): readonly Refused[] {
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

/**
 * Wants all but what is refused: one thing that the kernel does not take must not keep it from the rest. A virtual server takes along
 * its address, unless another one needs it.
 */
export function withoutRefused(desired: KernelState, refused: readonly Refused[]): KernelState {
  if (refused.length === 0) return desired;
  const servers = new Set<VirtualServerKey>();
  const addresses = new Set<IpAddress>();
  const reals = new Map<VirtualServerKey, Set<RealServerKey>>();
  for (const each of refused) {
    if (each.kind === 'virtual-server') servers.add(each.server);
    else if (each.kind === 'address') addresses.add(each.address);
    else reals.set(each.server, (reals.get(each.server) ?? new Set()).add(each.real));
  }
  const kept = [...desired.ipvs].filter(([key]) => !servers.has(key));
  const ipvs = new Map(kept.map(([key, server]) => [key, withoutReals(server, reals.get(key))]));
  const served = new Set([...ipvs.values()].map(({ address }) => address));
  const bound = [...desired.dummy.addresses].filter((address) => served.has(address) && !addresses.has(address));
  return { ...desired, ipvs, dummy: { ...desired.dummy, addresses: new Set(bound) } };
}

function withoutReals(server: VirtualServer, refused: ReadonlySet<RealServerKey> | undefined): VirtualServer {
  if (!refused) return server;
  return { ...server, realServers: new Map([...server.realServers].filter(([key]) => !refused.has(key))) };
}
