import type { Desired } from '../desired/desired.ts';
import type { Behaviour } from '../desired/settings.ts';
import { realsByKey } from '../kernel/ipvs/real-servers.ts';
import {
  type IpvsState,
  type RealServer,
  type RealServerKey,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
} from '../kernel/ipvs/state.ts';
import type { Change } from './change.ts';
import { whyUnwanted } from './endpoint-words.ts';

type IpvsChange = Omit<Change, 'tool' | 'family'>;

/** What differs between virtual servers as they are and as a pass leaves them, each followed by what differs of its real servers. */
export function ipvsChanges(
  observed: IpvsState,
  after: IpvsState,
  desired: Desired,
  behaviour: Behaviour,
): readonly IpvsChange[] {
  const keys = [...new Set([...observed.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const [before, now] = [observed.get(key), after.get(key)];
    if (before === now) return [];
    const services = servicesOf(key, desired);
    const own = serverChange(key, before, now);
    const reals = now ? realChanges(key, before?.realServers ?? [], now.realServers, desired, behaviour) : [];
    return [...own, ...reals].map((change) => ({ ...change, services }));
  });
}

/** `virtual server TCP 172.20.1.1:80` */
export function serverThing(key: VirtualServerKey): string {
  return `virtual server ${key}`;
}

/** `real server 10.180.0.1:8080 of TCP 172.20.1.1:80` */
export function realThing(key: VirtualServerKey, real: RealServerKey): string {
  return `real server ${real} of ${key}`;
}

function servicesOf(key: VirtualServerKey, { owners }: Desired): Change['services'] {
  const owner = owners.get(key);
  return owner ? [owner.part.port.key] : [];
}

type Bare = Omit<IpvsChange, 'services'>;

function serverChange(
  key: VirtualServerKey,
  before: VirtualServer | undefined,
  now: VirtualServer | undefined,
): readonly Bare[] {
  const thing = serverThing(key);
  if (!now) {
    const count = before?.realServers.length ?? 0;
    const reals = count === 0 ? '' : `; ${count} real ${count === 1 ? 'server goes' : 'servers go'} with it`;
    return [{ action: 'remove', thing, why: `no Service has it${reals}` }];
  }
  if (!before) return [{ action: 'add', thing, why: '' }];
  const why = serverDifferences(before, now);
  return why === '' ? [] : [{ action: 'change', thing, why }];
}

function realChanges(
  server: VirtualServerKey,
  before: readonly RealServer[],
  now: readonly RealServer[],
  desired: Desired,
  behaviour: Behaviour,
): readonly Bare[] {
  const owner = desired.owners.get(server);
  const place = { place: desired.node.place, behaviour };
  const whyNot = (key: RealServerKey) =>
    owner ? whyUnwanted(owner.part, owner.front, key, place) : 'no Service has its virtual server';
  const [present, after] = [realsByKey(before), realsByKey(now)];
  const wanted = new Set(owner?.front.server.realServers.map(realServerKey));
  return [...new Set([...present.keys(), ...after.keys()])].sort().flatMap((key): readonly Bare[] => {
    const [old, real] = [present.get(key), after.get(key)];
    const thing = realThing(server, key);
    if (!real) return [{ action: 'remove', thing, why: whyNot(key) }];
    if (!old) return [{ action: 'add', thing, why: '' }];
    const why = realDifferences(old, real);
    if (why === '') return [];
    return [{ action: 'change', thing, why: wanted.has(key) ? why : `${why}, to drain: ${whyNot(key)}` }];
  });
}

/** What is to be edited of a virtual server; `''` when nothing is. Flags that a reading does not tell are not compared. */
export function serverDifferences(before: VirtualServer, now: VirtualServer): string {
  const flags = ({ schedulerFlags = [] }: VirtualServer) => schedulerFlags.join(',') || 'none';
  const seconds = ({ persistenceSeconds }: VirtualServer) =>
    persistenceSeconds === 0 ? 'none' : `${persistenceSeconds} s`;
  return joined([
    ['scheduler', before.scheduler, now.scheduler],
    ['scheduler flags', before.schedulerFlags === undefined ? flags(now) : flags(before), flags(now)],
    ['persistence', seconds(before), seconds(now)],
  ]);
}

/** What is to be edited of a real server; `''` when nothing is. */
export function realDifferences(before: RealServer, now: RealServer): string {
  return joined([
    ['weight', `${before.weight}`, `${now.weight}`],
    ['forwarding', before.forwarding, now.forwarding],
  ]);
}

function joined(fields: readonly (readonly [string, string, string])[]): string {
  return fields
    .filter(([, before, now]) => before !== now)
    .map(([name, before, now]) => `${name} ${before} → ${now}`)
    .join(', ');
}
