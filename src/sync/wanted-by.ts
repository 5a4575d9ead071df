import type { OwnedFrontend } from '../desired/claims.ts';
import type { Desired } from '../desired/desired.ts';
import type { FrontPart, ServicePart } from '../desired/service-part.ts';
import { type SetId, setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, type SetEntry } from '../kernel/ipset/state.ts';
import { realOfKey } from '../kernel/ipvs/real-servers.ts';
import type { ServiceName } from '../model/names.ts';
import type { Protocol } from '../net/protocol.ts';
import { frontendOf } from '../plan/entry-frontend.ts';
import type { Refused } from '../plan/refused.ts';

/**
 * Gives the Services that a thing concerns, as long as `desired` stays as it is: those that want it, of which an address and an entry may
 * have several, any of which may be to blame; or for what was to be changed or deleted, whose frontend it is part of. Nobody where all that
 * it was for has gone.
 */
export function wantersIn(desired: Desired): (thing: Refused) => readonly ServiceName[] {
  const { owners } = desired;
  let binders: Binders | undefined;
  return (thing) => {
    switch (thing.kind) {
      case 'virtual-server':
      case 'real-server': {
        const owner = owners.get(thing.server);
        const concerns =
          thing.kind === 'virtual-server' ||
          thing.change ||
          (owner && realOfKey(owner.front.server.realServers, thing.real));
        return owner && concerns ? [owner.part.port.service] : [];
      }
      case 'address':
        binders ??= bindersOf(desired);
        return servicesOf(binders.get(thing.address) ?? []);
      case 'set':
        return thing.change ? [] : fillingOf(thing.set, desired);
      default:
        return thing.change ? servedWith(thing, desired) : askingFor(thing, desired);
    }
  };
}

/** Frontends by the address that is bound for them. */
type Binders = ReadonlyMap<string, readonly OwnedFrontend[]>;

function bindersOf({ owners }: Desired): Binders {
  return Map.groupBy(
    owners.values().filter(({ front }) => front.bind),
    ({ front }) => addressEntry(front.server.address),
  );
}

interface EntryOfSet {
  readonly set: string;
  readonly entry: SetEntry;
}

function askingFor({ set, entry: wanted }: EntryOfSet, desired: Desired): readonly ServiceName[] {
  const { owners, parts, kernel } = desired;
  const { family } = kernel;
  const isGuard = set === setName('IPVS-IPS', family);
  const has = ({ entries }: Pick<ServicePart, 'entries'>) =>
    entries.some(([id, entry]) => entry === wanted && setName(id, family) === set);
  const key = frontendOf(wanted);
  const owner = key && owners.get(key);
  if (owner && has(owner.front)) return [owner.part.port.service];
  const wants = (part: ServicePart) =>
    has(part) || part.fronts.some((front) => has(front) || (isGuard && binds(front, wanted)));
  return [...new Set([...parts.values()].filter(wants).map(({ port }) => port.service))];
}

/** Those that have an entry in it. */
function fillingOf(set: string, { parts, kernel: { family } }: Desired): readonly ServiceName[] {
  const isGuard = set === setName('IPVS-IPS', family);
  const fills = ({ entries }: Pick<ServicePart, 'entries'>) => entries.some(([id]) => setName(id, family) === set);
  const wants = (part: ServicePart) =>
    fills(part) || part.fronts.some((front) => fills(front) || (isGuard && front.bind));
  return [...new Set([...parts.values()].filter(wants).map(({ port }) => port.service))];
}

/** By the frontend that an entry begins with, or by its node port. */
function servedWith({ set, entry }: EntryOfSet, { owners, kernel: { family } }: Desired): readonly ServiceName[] {
  const key = frontendOf(entry);
  const owner = key && owners.get(key);
  if (owner) return [owner.part.port.service];
  const [, protocol] = NODE_PORT_SETS.find(([id]) => setName(id, family) === set) ?? [];
  if (protocol === undefined) return [];
  const isOfPort = ({ front: { kind, server } }: OwnedFrontend) =>
    kind === 'node-port' && server.protocol === protocol && String(server.port) === entry;
  return servicesOf([...owners.values()].filter(isOfPort));
}

const NODE_PORT_SETS: readonly (readonly [SetId, Protocol])[] = [
  ['NODE-PORT-TCP', 'TCP'],
  ['NODE-PORT-LOCAL-TCP', 'TCP'],
  ['NODE-PORT-UDP', 'UDP'],
  ['NODE-PORT-LOCAL-UDP', 'UDP'],
];

function servicesOf(owned: readonly OwnedFrontend[]): readonly ServiceName[] {
  return [...new Set(owned.map(({ part }) => part.port.service))];
}

function binds({ bind, server }: FrontPart, address: string): boolean {
  return bind && addressEntry(server.address) === address;
}
