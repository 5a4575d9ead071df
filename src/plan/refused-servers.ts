import { realsByKey } from '../kernel/ipvs/real-servers.ts';
import {
  type RealServer,
  type RealServerKey,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
} from '../kernel/ipvs/state.ts';
import type { Refused } from './refused.ts';

export type ServerRefused = Extract<Refused, { readonly server: VirtualServerKey }>;

/** What was refused of virtual servers and their real servers, by virtual server. */
export function byServer(refused: readonly Refused[]): ReadonlyMap<VirtualServerKey, readonly ServerRefused[]> {
  const ofServers = refused.flatMap((each) => ('server' in each ? [each] : []));
  return Map.groupBy(ofServers, ({ server }) => server);
}

/** A new virtual server without the real servers that were refused. */
export function withoutReals(server: VirtualServer, changes: readonly ServerRefused[]): VirtualServer {
  const lacking = refusedReals(changes);
  if (lacking.size === 0) return server;
  return { ...server, realServers: server.realServers.filter((real) => !lacking.has(realServerKey(real))) };
}

/** A virtual server that stands: what was not to be changed stays as it is, what does not go gets no new clients. A frozen one gets no new real servers, nor old ones back. */
export function leftAsItIs(
  server: VirtualServer,
  present: VirtualServer,
  changes: readonly ServerRefused[],
  isFrozen: boolean,
): VirtualServer {
  if (changes.length === 0 && !isFrozen) return server;
  const isEdited = changes.some(({ kind, change }) => kind === 'virtual-server' && change === 'edit');
  const { realServers: _, ...properties } = isEdited ? present : server;
  const lacking = refusedReals(changes);
  const [wanted, standing] = [realsByKey(server.realServers), realsByKey(present.realServers)];
  const reals = wanted
    .entries()
    .filter(([key]) => standing.has(key) || !(isFrozen || lacking.has(key)))
    .map(([key, real]) => [key, (isFrozen && unused(standing.get(key))) || real] as const);
  const isWantedAgain = (each: ServerRefused) =>
    each.kind === 'real-server' && each.change === 'deletion' && wanted.has(each.real);
  const stuck = stuckReals(
    present,
    changes.filter((each) => !isWantedAgain(each)),
  );
  return { ...properties, realServers: [...new Map([...reals, ...stuck]).values()] };
}

/**
 * A virtual server that nobody wants and that does not go loses its real servers, so that whoever still calls it is refused at once; but
 * for those that do not go either. `undefined` for one that has been refused nothing of the kind.
 */
export function stuckServer(present: VirtualServer, changes: readonly ServerRefused[]): VirtualServer | undefined {
  if (changes.every(({ change }) => change === undefined)) return undefined;
  return { ...present, realServers: [...stuckReals(present, changes).values()] };
}

/**
 * Real servers that the kernel does not let go of, or does not change. The first get weight 0, so that no new client is sent to what is
 * gone; where that is refused too they stay as they are.
 */
function stuckReals(present: VirtualServer, changes: readonly ServerRefused[]): ReadonlyMap<RealServerKey, RealServer> {
  const standing = realsByKey(present.realServers);
  const reals = new Map<RealServerKey, RealServer>();
  const edits = new Set(changes.flatMap((each) => ('real' in each && each.change === 'edit' ? [each.real] : [])));
  for (const each of changes) {
    if (each.kind !== 'real-server' || each.change === undefined) continue;
    const real = standing.get(each.real);
    if (real) reals.set(each.real, edits.has(each.real) || real.weight === 0 ? real : withoutWeight(real));
  }
  return reals;
}

function unused(real: RealServer | undefined): RealServer | undefined {
  return real?.weight === 0 ? real : undefined;
}

/** What was counted before says nothing of what came until the weight was 0. */
function withoutWeight({ connections: _, ...real }: RealServer): RealServer {
  return { ...real, weight: 0 };
}

function refusedReals(changes: readonly ServerRefused[]): ReadonlySet<RealServerKey> {
  return new Set(changes.flatMap((each) => (each.kind === 'real-server' && !each.change ? [each.real] : [])));
}
