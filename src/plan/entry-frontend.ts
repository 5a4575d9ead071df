import type { SetEntry } from '../kernel/ipset/state.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** `172.20.1.1,tcp:80` → `172.20.1.1` */
export function addressOf(entry: SetEntry): IpAddress {
  return entry.slice(0, entry.indexOf(',')) as IpAddress;
}

/** `172.20.1.1,tcp:80`, whatever comes after it → `TCP 172.20.1.1:80`; `undefined` for entries of other kinds. */
export function frontendOf(entry: SetEntry): VirtualServerKey | undefined {
  const [, address = '', protocol = '', port] = /^([^,]+),(tcp|udp|sctp):(\d+)/.exec(entry) ?? [];
  if (port === undefined) return undefined;
  const host = address.includes(':') ? `[${address}]` : address;
  return `${protocol.toUpperCase()} ${host}:${port}` as VirtualServerKey;
}
