import type { SetEntry } from '../kernel/ipset/state.ts';
import type { RealServerKey, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Remembered } from './ownership.ts';

/** Something that the kernel would not have as it was to be. */
export type Refused = Thing & {
  /** What was to become of it; absent for what was to be added. */
  readonly change?: 'edit' | 'deletion';
};

type Thing =
  | { readonly kind: 'virtual-server'; readonly server: VirtualServerKey }
  | { readonly kind: 'real-server'; readonly server: VirtualServerKey; readonly real: RealServerKey }
  | { readonly kind: 'address'; readonly address: IpAddress }
  | { readonly kind: 'set-entry'; readonly set: string; readonly entry: SetEntry }
  | { readonly kind: 'set'; readonly set: string };

export interface Said {
  readonly refused: Refused;
  /** What the tool said, or what is wrong with it. */
  readonly message: string;
}

/** Keeps what the kernel does not let go of known as ours, even where somebody has taken away the entries that tell whose it is. */
export function undeleted(things: readonly Refused[]): Remembered {
  const of = things.filter(({ change }) => change === 'deletion');
  return {
    servers: new Set(of.flatMap((each) => (each.kind === 'virtual-server' ? [each.server] : []))),
    addresses: new Set(of.flatMap((each) => (each.kind === 'address' ? [each.address] : []))),
  };
}

/** E.g. `real server 10.0.0.255:80 of TCP 172.20.1.1:80`, or `deletion of address 172.20.1.1`. */
export function describeRefused(refused: Refused): string {
  const thing = describeThing(refused);
  return refused.change === undefined ? thing : `${refused.change === 'edit' ? 'change' : 'deletion'} of ${thing}`;
}

function describeThing(thing: Thing): string {
  switch (thing.kind) {
    case 'virtual-server':
      return `virtual server ${thing.server}`;
    case 'real-server':
      return `real server ${thing.real} of ${thing.server}`;
    case 'set-entry':
      return `entry ${thing.entry} of set ${thing.set}`;
    case 'set':
      return `set ${thing.set}`;
    default:
      return `address ${thing.address}`;
  }
}
