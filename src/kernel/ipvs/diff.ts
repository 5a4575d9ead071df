import { realFinder } from './real-servers.ts';
import {
  type IpvsState,
  type RealServer,
  type RealServerKey,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
} from './state.ts';

/** One change of the IPVS tables; each is one line of `ipvsadm -R`. */
export type IpvsStep =
  | { readonly kind: 'add-virtual-server'; readonly server: VirtualServer }
  | { readonly kind: 'edit-virtual-server'; readonly server: VirtualServer }
  | { readonly kind: 'delete-virtual-server'; readonly server: VirtualServer }
  | { readonly kind: 'add-real-server'; readonly server: VirtualServer; readonly real: RealServer }
  | { readonly kind: 'edit-real-server'; readonly server: VirtualServer; readonly real: RealServer }
  | { readonly kind: 'delete-real-server'; readonly server: VirtualServer; readonly real: RealServer };

/** Why a virtual server that is not wanted may not be deleted. */
export type Unwanted = 'foreign' | 'excluded';

/** Why something that is not wanted stays; `refused`: the kernel does not let go of it. */
export type KeptServer =
  | { readonly why: Unwanted | 'lingering' | 'refused'; readonly server: VirtualServer }
  | { readonly why: 'draining'; readonly server: VirtualServer; readonly real: RealServer };

export interface IpvsDiff {
  /** What makes or betters service: additions, edits, weights back to 1, weights to 0. */
  readonly additions: readonly IpvsStep[];
  /** What takes away, to be done once nothing leads there any more. */
  readonly removals: readonly IpvsStep[];
  readonly kept: readonly KeptServer[];
  /** Virtual servers that are deleted although connections to them may be open. */
  readonly cut: readonly VirtualServer[];
  /** What differing virtual servers are once all steps have run; `undefined` where they are gone. */
  readonly after: ReadonlyMap<VirtualServerKey, VirtualServer | undefined>;
}

/** Says whether a virtual server that is not wanted may be deleted, or why it may not. */
export type MayDelete = (server: VirtualServer) => 'yes' | Unwanted;

/** How real servers that are not wanted any more come to their end. */
export interface Draining {
  /** True when they have had their time: they go with whatever connections they have. */
  readonly isOver: (server: VirtualServerKey, real: RealServerKey) => boolean;
  /** True of a virtual server that, once it is not wanted any more, lingers until its connections have ended; others go at once. */
  readonly mayLinger: (server: VirtualServer) => boolean;
}

/** Every real server may take its time, and virtual servers go at once. */
export const PATIENT: Draining = { isOver: () => false, mayLinger: () => false };

interface Parts {
  readonly additions: IpvsStep[];
  readonly removals: IpvsStep[];
  readonly kept: KeptServer[];
  readonly cut: VirtualServer[];
  readonly after: Map<VirtualServerKey, VirtualServer | undefined>;
}

/**
 * What leads from `observed` to `desired`. A real server that is not wanted any more is set to weight 0 first, and deleted once somebody
 * has seen after that that it has no connections: one that came in between is never cut. UDP and SCTP know no end of a connection, theirs
 * are deleted at once. One that is wanted again gets its weight back by an edit.
 */
export function diffIpvs(
  observed: IpvsState,
  desired: IpvsState,
  mayDelete: MayDelete,
  draining: Draining = PATIENT,
): IpvsDiff {
  const parts: Parts = { additions: [], removals: [], kept: [], cut: [], after: new Map() };
  for (const [key, server] of desired) {
    const present = observed.get(key);
    if (!present) {
      parts.additions.push(...additionOf(server));
      parts.after.set(key, server);
    } else if (present !== server) diffServer(key, present, server, draining, parts);
  }
  for (const [key, server] of observed) {
    if (desired.has(key)) continue;
    const answer = mayDelete(server);
    if (answer === 'yes') endServer(key, server, draining, parts);
    else parts.kept.push({ why: answer, server });
  }
  return parts;
}

/** The state after the steps of a diff, provided the kernel accepts them all. */
export function applyIpvsDiff(state: IpvsState, { after }: Pick<IpvsDiff, 'after'>): IpvsState {
  if (after.size === 0) return state;
  const servers = new Map<VirtualServerKey, VirtualServer>(state);
  for (const [key, server] of after) {
    if (server) servers.set(key, server);
    else servers.delete(key);
  }
  return servers;
}

function additionOf(server: VirtualServer): IpvsStep[] {
  return [
    { kind: 'add-virtual-server', server },
    ...server.realServers.map((real): IpvsStep => ({ kind: 'add-real-server', server, real })),
  ];
}

function diffServer(
  key: VirtualServerKey,
  present: VirtualServer,
  server: VirtualServer,
  draining: Draining,
  parts: Parts,
): void {
  if (!sameProperties(present, server)) parts.additions.push({ kind: 'edit-virtual-server', server });
  const presentAt = realFinder(present.realServers);
  const wantedAt = realFinder(server.realServers);
  for (const real of server.realServers) {
    const old = presentAt(real);
    if (!old) parts.additions.push({ kind: 'add-real-server', server, real });
    else if (old.weight !== real.weight || old.forwarding !== real.forwarding) {
      parts.additions.push({ kind: 'edit-real-server', server, real });
    }
  }
  const unwanted = present.realServers.filter((real) => !wantedAt(real));
  const left = endReals(key, server, unwanted, draining, parts);
  const realServers = left.length === 0 ? server.realServers : [...server.realServers, ...left];
  parts.after.set(key, left.length === 0 ? server : { ...server, realServers });
}

/** A virtual server that is not wanted any more lingers as long as one of its real servers drains. */
function endServer(key: VirtualServerKey, server: VirtualServer, draining: Draining, parts: Parts): void {
  const mayLinger = server.protocol === 'TCP' && draining.mayLinger(server);
  const busy = mayLinger && server.realServers.some((real) => isDraining(key, real, draining));
  if (!busy) {
    parts.removals.push({ kind: 'delete-virtual-server', server });
    if (!server.realServers.every(isIdle)) parts.cut.push(server);
    parts.after.set(key, undefined);
    return;
  }
  const left = endReals(key, server, server.realServers, draining, parts);
  parts.kept.push({ why: 'lingering', server });
  parts.after.set(key, { ...server, realServers: left });
}

/** Lets real servers drain or deletes them; gives those that are left. */
function endReals(
  key: VirtualServerKey,
  server: VirtualServer,
  unwanted: readonly RealServer[],
  draining: Draining,
  { additions, removals, kept }: Parts,
): readonly RealServer[] {
  return unwanted.flatMap((old) => {
    if (server.protocol !== 'TCP' || !isDraining(key, old, draining)) {
      removals.push({ kind: 'delete-real-server', server, real: old });
      return [];
    }
    const real = old.weight === 0 ? old : withoutWeight(old);
    if (real !== old) additions.push({ kind: 'edit-real-server', server, real });
    kept.push({ why: 'draining', server, real });
    return [real];
  });
}

/** Also true of one that has yet to begin with it. */
function isDraining(key: VirtualServerKey, real: RealServer, { isOver }: Draining): boolean {
  return !isIdle(real) && !isOver(key, realServerKey(real));
}

/** It was seen without connections, and cannot have got any since. */
function isIdle({ weight, connections }: RealServer): boolean {
  return weight === 0 && connections === 0;
}

/** What was counted before says nothing of what came until the weight was 0. */
function withoutWeight({ connections: _, ...real }: RealServer): RealServer {
  return { ...real, weight: 0 };
}

/** Flags that a reading does not tell count as equal. */
export function sameProperties(present: VirtualServer, wanted: VirtualServer): boolean {
  const flags = (server: VirtualServer) => (server.schedulerFlags ?? []).join(',');
  return (
    present.scheduler === wanted.scheduler &&
    present.persistenceSeconds === wanted.persistenceSeconds &&
    (present.schedulerFlags === undefined || flags(present) === flags(wanted))
  );
}
