import { type IpAddress, parseIpAddress } from '../../net/ip-address.ts';
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
  if (text.charCodeAt(0) === BRACKET) {
    const [, address = '', port = ''] = /^\[([0-9a-f:.]+)\]:([0-9A-F]{4})$/.exec(text) ?? [];
    return join(parseIpAddress(address), Number.parseInt(port, 16));
  }
  if (text.length !== IPV4_LENGTH || text[8] !== ':') return undefined;
  const byte = (at: number) => hexDigit(text.charCodeAt(at)) * 16 + hexDigit(text.charCodeAt(at + 1));
  const [a, b, c, d, port] = [byte(0), byte(2), byte(4), byte(6), byte(9) * 256 + byte(11)];
  return Number.isNaN(a + b + c + d) ? undefined : join(`${a}.${b}.${c}.${d}` as IpAddress, port);
}

const BRACKET = 91;
const IPV4_LENGTH = 'AC140101:0050'.length;

/** NaN for anything else than 0–9 and A–F. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 65 && code <= 70 ? code - 55 : Number.NaN;
}

function join(address: IpAddress | undefined, portNumber: number): AddressPort | undefined {
  const port = parsePort(portNumber);
  return address && port ? { address, port } : undefined;
}
