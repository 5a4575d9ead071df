import type { SetEntry } from '../kernel/ipset/state.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** Names of what of a family's wanted state may differ from the kernel's; all else need not be compared. */
export interface Touched {
  readonly servers: ReadonlySet<VirtualServerKey>;
  readonly addresses: ReadonlySet<IpAddress>;
  /** Of whichever set. */
  readonly entries: ReadonlySet<SetEntry>;
  /** The rules are others. */
  readonly rules: boolean;
}

/** Touched things as they come up. */
export class Touches {
  readonly servers = new Set<VirtualServerKey>();
  readonly addresses = new Set<IpAddress>();
  readonly entries = new Set<SetEntry>();
  rules = false;

  clear(): void {
    this.servers.clear();
    this.addresses.clear();
    this.entries.clear();
    this.rules = false;
  }
}

/** Everything that one of them names. */
export function union(all: readonly Touched[]): Touched {
  const joined = new Touches();
  for (const { servers, addresses, entries, rules } of all) {
    for (const key of servers) joined.servers.add(key);
    for (const address of addresses) joined.addresses.add(address);
    for (const entry of entries) joined.entries.add(entry);
    joined.rules ||= rules;
  }
  return joined;
}
