import { formatAddress, type IpAddress, parseIpAddress } from '../../net/ip-address.ts';
import { type Port, parsePort } from '../../net/port.ts';

/** The two ends of a virtual or real server's name. */
export interface AddressPort {
  readonly address: IpAddress;
  readonly port: Port;
}

/** Reads `172.20.1.1:80` or `[fd00::1]:80`, as `ipvsadm` prints them with `-n`. */
export function parseAddressPort(text: string): AddressPort | undefined {
  const match = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(text);
  return join(parseIpAddress(match?.[1] ?? match?.[2] ?? ''), Number(match?.[3]));
}

/** Reads `AC140101:0050` or `[fd00:0096:…]:0050`, all of it hexadecimal, as `/proc/net/ip_vs` shows them. */
export function parseHexAddressPort(text: string): AddressPort | undefined {
  const match = /^(?:([0-9A-F]{8})|\[([0-9a-f:.]+)\]):([0-9A-F]{4})$/.exec(text);
  if (!match) return undefined;
  const [, ipv4, ipv6 = '', portText = ''] = match;
  const address = ipv4 === undefined ? parseIpAddress(ipv6) : formatIpv4(Number.parseInt(ipv4, 16));
  return join(address, Number.parseInt(portText, 16));
}

function formatIpv4(bits: number): IpAddress {
  return formatAddress([bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255]);
}

function join(address: IpAddress | undefined, portNumber: number): AddressPort | undefined {
  const port = parsePort(portNumber);
  return address && port ? { address, port } : undefined;
}
