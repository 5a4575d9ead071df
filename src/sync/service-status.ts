import type { Desired } from '../desired/desired.ts';
import type { FrontPart, ServicePart } from '../desired/service-part.ts';
import type { Standing } from '../kernel/ipvs/parse-standing.ts';
import { realsByKey } from '../kernel/ipvs/real-servers.ts';
import {
  type IpvsState,
  type RealServerKey,
  realServerKey,
  type VirtualServerKey,
  virtualServerKey,
} from '../kernel/ipvs/state.ts';
import type { ServiceName } from '../model/names.ts';
import type { RealServerStatus, ServiceStatus, VirtualServerStatus } from '../observe/status.ts';
import type { Drain } from './drains.ts';

/** One family as it is known between passes. */
export interface FamilyView {
  /** Live; `undefined` before the first pass. */
  readonly desired: Desired | undefined;
  /** Live; what the kernel is known to hold. */
  readonly ipvs: IpvsState;
  readonly drains: ReadonlyMap<VirtualServerKey, readonly Drain[]>;
}

/** What the kernel says now; `undefined` for a virtual server that its file lacks. */
export type StandingOf = (server: VirtualServerKey) => ReadonlyMap<RealServerKey, Standing> | undefined;

/** Parts of each Service by its name, in the order of the names. */
export function partsByService(views: readonly FamilyView[]): ReadonlyMap<ServiceName, readonly OwnPart[]> {
  const parts = views.flatMap((view) => [...(view.desired?.parts.values() ?? [])].map((part) => ({ part, view })));
  const grouped = Map.groupBy(parts, ({ part }) => part.port.service);
  return new Map([...grouped].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The same of one Service; none when it is not served. */
export function partsOf(views: readonly FamilyView[], service: string): readonly OwnPart[] {
  return views.flatMap((view) => {
    const parts = view.desired?.parts.values().filter(({ port }) => port.service === service);
    return [...(parts ?? [])].map((part) => ({ part, view }));
  });
}

export interface OwnPart {
  readonly part: ServicePart;
  readonly view: FamilyView;
}

/** A frontend that another service port has is left out. */
export function serviceStatus(
  name: ServiceName,
  parts: readonly OwnPart[],
  standingOf: StandingOf,
  nowMs: number,
): ServiceStatus {
  const virtualServers = parts.flatMap(({ part, view }) =>
    part.fronts
      .filter(({ server }) => view.desired?.owners.get(virtualServerKey(server))?.part === part)
      .map((front) => virtualServerStatus(part, front, view, standingOf, nowMs)),
  );
  return { name, virtualServers };
}

function virtualServerStatus(
  { port }: ServicePart,
  { kind, server }: FrontPart,
  { ipvs, drains }: FamilyView,
  standingOf: StandingOf,
  nowMs: number,
): VirtualServerStatus {
  const key = virtualServerKey(server);
  const known = ipvs.get(key);
  const standing: ReadonlyMap<RealServerKey, Partial<Standing>> | undefined =
    standingOf(key) ?? (known && realsByKey(known.realServers));
  const wanted = new Set(server.realServers.map(realServerKey));
  const draining = new Map(drains.get(key)?.map(({ real, sinceMs }) => [real, sinceMs]));
  const reals = new Set([...wanted, ...(standing?.keys() ?? [])]);
  return {
    address: key,
    port: port.key.slice(port.service.length + 1, port.key.lastIndexOf('/')),
    kind,
    scheduler: server.scheduler,
    persistenceSeconds: server.persistenceSeconds,
    programmed: standing !== undefined,
    realServers: [...reals].map((real) =>
      realServerStatus(real, standing?.get(real), wanted.has(real), draining.get(real), nowMs),
    ),
  };
}

function realServerStatus(
  address: RealServerKey,
  standing: Partial<Standing> | undefined,
  isWanted: boolean,
  drainingSinceMs: number | undefined,
  nowMs: number,
): RealServerStatus {
  if (!standing) return { address, state: 'missing' };
  const { weight, active, inactive } = standing;
  const numbers = {
    ...(weight === undefined ? {} : { weight }),
    ...(active === undefined ? {} : { active }),
    ...(inactive === undefined ? {} : { inactive }),
  };
  if (!isWanted && drainingSinceMs !== undefined) {
    return { address, state: 'draining', ...numbers, drainingSeconds: Math.round((nowMs - drainingSinceMs) / 1000) };
  }
  return { address, state: weight === 0 ? 'no-new-connections' : 'active', ...numbers };
}
