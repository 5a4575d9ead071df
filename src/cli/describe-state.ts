import { realServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState } from '../kernel/state.ts';

/** One family's state as plain lists and records, sorted, for machines to read. */
export function describeState({ ipvs, sets, dummy, tables }: KernelState) {
  return {
    virtualServers: sortedBy([...ipvs.entries()], ([key]) => key).map(([, server]) => ({
      protocol: server.protocol,
      address: server.address,
      port: server.port,
      scheduler: server.scheduler,
      schedulerFlags: server.schedulerFlags ?? [],
      persistenceSeconds: server.persistenceSeconds,
      realServers: sortedBy(server.realServers, realServerKey).map((real) => ({
        address: real.address,
        port: real.port,
        weight: real.weight,
      })),
    })),
    boundAddresses: [...dummy.addresses].sort(),
    sets: Object.fromEntries(
      sortedBy([...sets.values()], ({ name }) => name).map(({ name, type, entries }) => [
        name,
        { type, entries: [...entries].sort() },
      ]),
    ),
    chains: { nat: Object.fromEntries(tables.nat.chains), filter: Object.fromEntries(tables.filter.chains) },
  };
}

function sortedBy<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
