import type { IpvsStep } from '../../src/kernel/ipvs/diff.ts';
import { realsByKey } from '../../src/kernel/ipvs/real-servers.ts';
import {
  type IpvsState,
  type RealServer,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from '../../src/kernel/ipvs/state.ts';

/** The state after the steps, one by one, as the kernel carries them out. */
export function applyIpvsSteps(state: IpvsState, steps: readonly IpvsStep[]): IpvsState {
  const servers = new Map<VirtualServerKey, VirtualServer>(state);
  for (const step of steps) {
    const key = virtualServerKey(step.server);
    const present = servers.get(key);
    if (step.kind === 'add-virtual-server') servers.set(key, { ...step.server, realServers: [] });
    else if (step.kind === 'delete-virtual-server') servers.delete(key);
    else if (!present) throw new Error(`${step.kind} of ${key}, which is not there`);
    else if (step.kind === 'edit-virtual-server') {
      servers.set(key, { ...step.server, realServers: present.realServers });
    } else servers.set(key, { ...present, realServers: changeReal(present.realServers, step.kind, step.real) });
  }
  return servers;
}

/** What somebody sees who looks after every connection has ended. */
export function withoutConnections(state: IpvsState): IpvsState {
  const idle = (reals: readonly RealServer[]) => reals.map((real) => ({ ...real, connections: 0 }));
  return new Map([...state].map(([key, server]) => [key, { ...server, realServers: idle(server.realServers) }]));
}

function changeReal(
  reals: readonly RealServer[],
  kind: 'add-real-server' | 'edit-real-server' | 'delete-real-server',
  real: RealServer,
): readonly RealServer[] {
  const changed = new Map(realsByKey(reals));
  if (kind === 'delete-real-server') changed.delete(realServerKey(real));
  else changed.set(realServerKey(real), real);
  return [...changed.values()];
}
