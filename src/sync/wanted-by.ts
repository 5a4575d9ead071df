import type { Desired } from '../desired/desired.ts';
import type { FrontPart, ServicePart } from '../desired/service-part.ts';
import { setName } from '../kernel/ipset/definitions.ts';
import { addressEntry } from '../kernel/ipset/state.ts';
import type { ServiceName } from '../model/names.ts';
import type { Refused } from '../plan/refused.ts';

/** Services that want a thing: an address and an entry may have several, of which any may be to blame. */
export function wantedBy(thing: Refused, { owners, parts, kernel: { family } }: Desired): readonly ServiceName[] {
  switch (thing.kind) {
    case 'virtual-server':
    case 'real-server': {
      const owner = owners.get(thing.server);
      const isWanted = thing.kind === 'virtual-server' || owner?.front.server.realServers.has(thing.real);
      return owner && isWanted ? [owner.part.port.service] : [];
    }
    case 'address': {
      const binders = [...owners.values()].filter(({ front }) => binds(front, thing.address));
      return [...new Set(binders.map(({ part }) => part.port.service))];
    }
    default: {
      const isGuard = thing.set === setName('IPVS-IPS', family);
      const has = ({ entries }: Pick<ServicePart, 'entries'>) =>
        entries.some(([id, entry]) => entry === thing.entry && setName(id, family) === thing.set);
      const wants = (part: ServicePart) =>
        has(part) || part.fronts.some((front) => has(front) || (isGuard && binds(front, thing.entry)));
      return [...new Set([...parts.values()].filter(wants).map(({ port }) => port.service))];
    }
  }
}

function binds({ bind, server }: FrontPart, address: string): boolean {
  return bind && addressEntry(server.address) === address;
}
