import type { IpvsState, RealServer, RealServerKey, VirtualServer, VirtualServerKey } from './state.ts';
import { realServerKey, virtualServerKey } from './state.ts';

/** One change of the IPVS tables; each is one line of `ipvsadm -R`. */
export type IpvsStep =
  | { readonly kind: 'add-virtual-server'; readonly server: VirtualServer }
  | { readonly kind: 'edit-virtual-server'; readonly server: VirtualServer }
  | { readonly kind: 'delete-virtual-server'; readonly server: VirtualServer }
  | { readonly kind: 'add-real-server'; readonly server: VirtualServer; readonly real: RealServer }
  | { readonly kind: 'edit-real-server'; readonly server: VirtualServer; readonly real: RealServer }
  | { readonly kind: 'delete-real-server'; readonly server: VirtualServer; readonly real: RealServer };

/** Why something that is not wanted stays. */
export type KeptServer =
  | { readonly why: 'foreign' | 'excluded'; readonly server: VirtualServer }
  | { readonly why: 'draining'; readonly server: VirtualServer; readonly real: RealServer };

export interface IpvsDiff {
  /** What makes or betters service: additions, edits, weights back to 1, weights to 0. */
  readonly additions: readonly IpvsStep[];
  /** What takes away, to be done once nothing leads there any more. */
  readonly removals: readonly IpvsStep[];
  readonly kept: readonly KeptServer[];
}

/** Says whether a virtual server that is not wanted may be deleted, or why it may not. */
export type MayDelete = (server: VirtualServer) => 'yes' | 'foreign' | 'excluded';

/**
 * What leads from `observed` to `desired`. A real server that is not wanted any more is deleted when it has no connections
 * (UDP and SCTP: at once), else set to weight 0 and kept as draining; one that is wanted again gets its weight back by an edit.
 */
export function diffIpvs(observed: IpvsState, desired: IpvsState, mayDelete: MayDelete): IpvsDiff {
  const additions: IpvsStep[] = [];
  const removals: IpvsStep[] = [];
  const kept: KeptServer[] = [];
  for (const [key, server] of desired) {
    const present = observed.get(key);
    if (!present) additions.push(...additionOf(server));
    else if (present !== server) diffServer(present, server, { additions, removals, kept });
  }
  for (const [key, server] of observed) {
    if (desired.has(key)) continue;
    const answer = mayDelete(server);
    if (answer === 'yes') removals.push({ kind: 'delete-virtual-server', server });
    else kept.push({ why: answer, server });
  }
  return { additions, removals, kept };
}

/** The state after the steps, provided the kernel accepts them all. */
export function applyIpvsSteps(state: IpvsState, steps: readonly IpvsStep[]): IpvsState {
  if (steps.length === 0) return state;
  const servers = new Map<VirtualServerKey, VirtualServer>(state);
  for (const step of steps) {
    const key = virtualServerKey(step.server);
    const present = servers.get(key);
    switch (step.kind) {
      case 'add-virtual-server':
        servers.set(key, { ...step.server, realServers: new Map() });
        break;
      case 'edit-virtual-server':
        servers.set(key, { ...step.server, realServers: present?.realServers ?? new Map() });
        break;
      case 'delete-virtual-server':
        servers.delete(key);
        break;
      default:
        if (present) servers.set(key, { ...present, realServers: changeReal(present.realServers, step) });
    }
  }
  return servers;
}

function additionOf(server: VirtualServer): IpvsStep[] {
  const reals = [...server.realServers.values()];
  return [
    { kind: 'add-virtual-server', server },
    ...reals.map((real): IpvsStep => ({ kind: 'add-real-server', server, real })),
  ];
}

function diffServer(
  present: VirtualServer,
  server: VirtualServer,
  out: { additions: IpvsStep[]; removals: IpvsStep[]; kept: KeptServer[] },
): void {
  if (!sameProperties(present, server)) out.additions.push({ kind: 'edit-virtual-server', server });
  for (const [key, real] of server.realServers) {
    const old = present.realServers.get(key);
    if (!old) out.additions.push({ kind: 'add-real-server', server, real });
    else if (old.weight !== real.weight || old.forwarding !== real.forwarding) {
      out.additions.push({ kind: 'edit-real-server', server, real });
    }
  }
  for (const [key, old] of present.realServers) {
    if (server.realServers.has(key)) continue;
    if (server.protocol !== 'TCP' || old.connections === 0) {
      out.removals.push({ kind: 'delete-real-server', server, real: old });
      continue;
    }
    out.kept.push({ why: 'draining', server, real: old });
    if (old.weight !== 0) out.additions.push({ kind: 'edit-real-server', server, real: { ...old, weight: 0 } });
  }
}

/** Flags that a reading does not tell count as equal. */
function sameProperties(present: VirtualServer, wanted: VirtualServer): boolean {
  const flags = (server: VirtualServer) => (server.schedulerFlags ?? []).join(',');
  return (
    present.scheduler === wanted.scheduler &&
    present.persistenceSeconds === wanted.persistenceSeconds &&
    (present.schedulerFlags === undefined || flags(present) === flags(wanted))
  );
}

function changeReal(
  reals: ReadonlyMap<RealServerKey, RealServer>,
  step: Extract<IpvsStep, { real: RealServer }>,
): ReadonlyMap<RealServerKey, RealServer> {
  const changed = new Map(reals);
  const key = realServerKey(step.real);
  if (step.kind === 'delete-real-server') changed.delete(key);
  else changed.set(key, { ...step.real, connections: reals.get(key)?.connections ?? 0 });
  return changed;
}
