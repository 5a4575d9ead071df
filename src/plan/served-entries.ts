import { addressPortEntry, type IpSet, type SetEntry } from '../kernel/ipset/state.ts';
import type { IpvsState } from '../kernel/ipvs/state.ts';
import { isOfPorts, protocolOf } from './frozen-servers.ts';

/** Tells entries about frontends, or node ports, of which a virtual server stands. Looks at them once, and not before it is asked. */
export function servedEntries(standing: IpvsState): (set: IpSet, entry: SetEntry) => boolean {
  let served: ReadonlySet<string> | undefined;
  return ({ name, type }, entry) => {
    served ??= frontendsIn(standing);
    return served.has(isOfPorts(type) ? `${protocolOf(name)} ${entry}` : entry);
  };
}

/** `172.20.1.1,tcp:80` and `TCP 80` for each. */
function frontendsIn(standing: IpvsState): ReadonlySet<string> {
  const frontends = new Set<string>();
  for (const { address, protocol, port } of standing.values()) {
    frontends.add(addressPortEntry(address, protocol, port)).add(`${protocol} ${port}`);
  }
  return frontends;
}
