import type { IpvsStep } from '../../src/kernel/ipvs/diff.ts';
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
    if (step.kind === 'add-virtual-server') servers.set(key, { ...step.server, realServers: new Map() });
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
  const idle = (reals: VirtualServer['realServers']) =>
    new Map([...reals].map(([key, real]) => [key, { ...real, connections: 0 }]));
  return new Map([...state].map(([key, server]) => [key, { ...server, realServers: idle(server.realServers) }]));
}

function changeReal(
  reals: VirtualServer['realServers'],
  kind: 'add-real-server' | 'edit-real-server' | 'delete-real-server',
  real: RealServer,
): VirtualServer['realServers'] {
  const changed = new Map(reals);
  if (kind === 'delete-real-server') changed.delete(realServerKey(real));
  else changed.set(realServerKey(real), real);
  return changed;
}
