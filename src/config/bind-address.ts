import type { Family } from '../net/family.ts';
import { type IpAddress, parseIpAddress } from '../net/ip-address.ts';
import { type Port, parsePort } from '../net/port.ts';

/** Where a server listens. */
export interface BindAddress {
  readonly address: IpAddress;
  readonly port: Port;
}

/** An address whose port may be left to a default. */
export interface PartialBindAddress {
  readonly address: IpAddress;
  readonly port: Port | undefined;
}

/** Reads `IP`, `IPv4:PORT` or `[IPv6]:PORT`; names, port 0 and everything else give `undefined`. */
export function parseBindAddress(text: string): PartialBindAddress | undefined {
  const bare = parseIpAddress(text);
  if (bare) return { address: bare, port: undefined };
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*:[^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const address = parseIpAddress(bracketed ?? plain ?? '');
  const port = parsePort(Number(digits));
  return address && port && { address, port };
}

/** The address to listen on when none is given: everywhere for health checks, the node itself for metrics. */
export function defaultListenAddress(server: 'healthz' | 'metrics', family: Family): IpAddress {
  return DEFAULTS[server][family] as IpAddress;
}

const DEFAULTS = {
  healthz: { IPv4: '0.0.0.0', IPv6: '::' },
  metrics: { IPv4: '127.0.0.1', IPv6: '::1' },
} as const;
