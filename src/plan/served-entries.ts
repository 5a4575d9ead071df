import type { Frontends } from '../kernel/ipset/diff.ts';
import { addressPortEntry, type SetEntry } from '../kernel/ipset/state.ts';
import type { IpvsState } from '../kernel/ipvs/state.ts';
import { isOfPorts, protocolOf } from './frozen-servers.ts';

/** Tells entries about frontends, or node ports, of which a virtual server stands. Looks at them once, and not before it is asked. */
export function servedEntries(present: IpvsState): Frontends {
  let known: Known | undefined;
  const look = () => {
    known ??= frontendsIn(present);
    return known;
  };
  return {
    stands: ({ name, type }, entry) => look().standing.has(isOfPorts(type) ? `${protocolOf(name)} ${entry}` : entry),
    serves: (frontend) => look().serving.has(frontend),
  };
}

interface Known {
  /** `172.20.1.1,tcp:80` and `TCP 80` for each. */
  readonly standing: ReadonlySet<string>;
  readonly serving: ReadonlySet<SetEntry>;
}

function frontendsIn(present: IpvsState): Known {
  const [standing, serving] = [new Set<string>(), new Set<SetEntry>()];
  for (const { address, protocol, port, realServers } of present.values()) {
    const frontend = addressPortEntry(address, protocol, port);
    standing.add(frontend).add(`${protocol} ${port}`);
    if (realServers.some(({ weight }) => weight > 0)) serving.add(frontend);
  }
  return { standing, serving };
}
