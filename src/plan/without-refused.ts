import {
  type RealServer,
  type RealServerKey,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Plan } from './plan-sync.ts';

/** What is left to want when the kernel has refused some of a plan, and what that was, for people to read. */
export interface Remainder {
  readonly kernel: KernelState;
  /** E.g. `real server 10.0.0.255:80 of TCP 172.20.1.1:80`; sorted. */
  readonly refused: readonly string[];
}

/**
 * Leaves out of `desired` what a tool was to add by `plan` and the kernel, read again after it ran, does not have: one thing that the
 * kernel does not take must not keep it from the rest. A virtual server that was refused takes along its address, unless another one
 * needs it.
 */
export function withoutRefused(
  desired: KernelState,
  plan: Plan,
  refusedBy: 'ipvs' | 'address',
  observed: ObservedState,
): Remainder {
  const added = addedByPlan(plan);
  return refusedBy === 'ipvs' ? withoutServers(desired, added, observed) : withoutAddresses(desired, added, observed);
}

function withoutServers(desired: KernelState, added: Added, observed: ObservedState): Remainder {
  const refused: string[] = [];
  const ipvs = new Map<VirtualServerKey, VirtualServer>();
  for (const [key, server] of desired.ipvs) {
    const present = observed.ipvs.get(key);
    if (!present && added.servers.has(key)) refused.push(`virtual server ${key}`);
    else ipvs.set(key, present ? acceptedPart(server, present, added.reals.get(key), refused) : server);
  }
  const served = new Set([...ipvs.values()].map(({ address }) => address));
  const addresses = new Set([...desired.dummy.addresses].filter((address) => served.has(address)));
  return { kernel: { ...desired, ipvs, dummy: { ...desired.dummy, addresses } }, refused: refused.sort() };
}

function withoutAddresses(desired: KernelState, added: Added, observed: ObservedState): Remainder {
  const missing = [...added.addresses].filter((address) => !observed.dummy.addresses.has(address));
  const addresses = new Set([...desired.dummy.addresses].filter((address) => !missing.includes(address)));
  return {
    kernel: { ...desired, dummy: { ...desired.dummy, addresses } },
    refused: missing.map((address) => `address ${address}`).sort(),
  };
}

interface Added {
  readonly servers: ReadonlySet<VirtualServerKey>;
  /** By virtual server. */
  readonly reals: ReadonlyMap<VirtualServerKey, ReadonlySet<RealServerKey>>;
  readonly addresses: ReadonlySet<IpAddress>;
}

function addedByPlan({ parts }: Plan): Added {
  const servers = new Set<VirtualServerKey>();
  const reals = new Map<VirtualServerKey, Set<RealServerKey>>();
  const addresses = new Set<IpAddress>();
  for (const part of parts) {
    if (part.tool === 'address') {
      for (const step of part.steps) if (step.kind === 'bind-address') addresses.add(step.address);
    } else if (part.tool === 'ipvs') {
      for (const step of part.steps) {
        const key = virtualServerKey(step.server);
        if (step.kind === 'add-virtual-server') servers.add(key);
        else if (step.kind === 'add-real-server')
          reals.set(key, (reals.get(key) ?? new Set()).add(realServerKey(step.real)));
      }
    }
  }
  return { servers, reals, addresses };
}

/** The virtual server without real servers that were refused. */
function acceptedPart(
  wanted: VirtualServer,
  present: VirtualServer,
  added: ReadonlySet<RealServerKey> | undefined,
  refused: string[],
): VirtualServer {
  const realServers = new Map<RealServerKey, RealServer>();
  for (const [key, real] of wanted.realServers) {
    if (added?.has(key) && !present.realServers.has(key))
      refused.push(`real server ${key} of ${virtualServerKey(wanted)}`);
    else realServers.set(key, real);
  }
  return realServers.size === wanted.realServers.size ? wanted : { ...wanted, realServers };
}
