import type { Desired } from '../desired/desired.ts';
import type { PartEntry } from '../desired/frontends.ts';
import { setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, type SetEntry } from '../kernel/ipset/state.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** Which service ports want a thing of the kernel; none where nobody does. */
export interface Belongings {
  readonly ofServer: (key: VirtualServerKey) => readonly ServicePortKey[];
  readonly ofAddress: (address: IpAddress) => readonly ServicePortKey[];
  /** `set`: its name with the family. */
  readonly ofEntry: (set: string, entry: SetEntry) => readonly ServicePortKey[];
}

/** Goes through everything that is wanted once; asking costs nothing then. */
export function belongings({ owners, parts, kernel: { family } }: Desired): Belongings {
  const addresses = new Map<IpAddress, Set<ServicePortKey>>();
  const entries = new Map<string, Set<ServicePortKey>>();
  const put = <K>(into: Map<K, Set<ServicePortKey>>, key: K, owner: ServicePortKey) => {
    const known = into.get(key);
    if (known) known.add(owner);
    else into.set(key, new Set([owner]));
  };
  const putEntry = ([id, entry]: PartEntry, owner: ServicePortKey) =>
    put(entries, `${setName(id, family)} ${entry}`, owner);
  for (const { port, entries: own } of parts.values()) for (const entry of own) putEntry(entry, port.key);
  for (const { part, front } of owners.values()) {
    const { key } = part.port;
    for (const entry of front.entries) putEntry(entry, key);
    if (!front.bind) continue;
    put(addresses, front.server.address, key);
    putEntry(['IPVS-IPS', addressEntry(front.server.address)], key);
  }
  return {
    ofServer: (key) => {
      const owner = owners.get(key);
      return owner ? [owner.part.port.key] : NOBODY;
    },
    ofAddress: (address) => sorted(addresses.get(address)),
    ofEntry: (set, entry) => sorted(entries.get(`${set} ${entry}`)),
  };
}

const NOBODY: readonly never[] = [];

function sorted(keys: ReadonlySet<ServicePortKey> | undefined): readonly ServicePortKey[] {
  return keys ? [...keys].sort() : NOBODY;
}
