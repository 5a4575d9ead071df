import type { Family } from './family.ts';
import { type AddressBytes, familyOf, formatAddress, type IpAddress, parseAddressBytes } from './ip-address.ts';

declare const brand: unique symbol;

/** `ADDRESS/LENGTH` with the host bits zeroed and the address canonical; a Map key. */
export type Cidr = string & { readonly [brand]: 'Cidr' };

/** An address together with the length of its network, as an interface carries it; host bits are kept. */
export interface InterfaceAddress {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

/** Reads `ADDRESS/LENGTH`; the length is plain decimal, of an IPv4-mapped address out of 128. Anything else gives `undefined`. */
export function parseCidr(text: string): Cidr | undefined {
  const parsed = splitCidr(text);
  return parsed && (`${formatAddress(maskBytes(parsed.bytes, parsed.length))}/${parsed.length}` as Cidr);
}

/** Reads `ADDRESS/LENGTH` and keeps the host bits. */
export function parseInterfaceAddress(text: string): InterfaceAddress | undefined {
  const parsed = splitCidr(text);
  return parsed && { address: formatAddress(parsed.bytes), prefixLength: parsed.length };
}

/** The network of one host: /32 or /128. */
export function hostCidr(address: IpAddress): Cidr {
  return `${address}/${familyOf(address) === 'IPv4' ? 32 : 128}` as Cidr;
}

export function cidrFamily(cidr: Cidr): Family {
  return cidr.includes(':') ? 'IPv6' : 'IPv4';
}

export function prefixLength(cidr: Cidr): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}

/** True when `address` is of the CIDR's family and inside it. */
export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  if (cidrFamily(cidr) !== familyOf(address)) return false;
  const bytes = parseAddressBytes(address) ?? [];
  return formatAddress(maskBytes(bytes, prefixLength(cidr))) === cidr.slice(0, cidr.indexOf('/'));
}

/** True when there is an address that is inside both. */
export function cidrsOverlap(one: Cidr, other: Cidr): boolean {
  const [wide, narrow] = prefixLength(one) <= prefixLength(other) ? [one, other] : [other, one];
  return cidrContains(wide, narrow.slice(0, narrow.indexOf('/')) as IpAddress);
}

function splitCidr(text: string): { bytes: AddressBytes; length: number } | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const bytes = parseAddressBytes(text.slice(0, slash));
  const lengthText = text.slice(slash + 1);
  if (!bytes || !/^(0|[1-9]\d{0,2})$/.test(lengthText)) return undefined;
  const mapped = bytes.length === 4 && text.includes(':');
  const length = Number(lengthText) - (mapped ? MAPPED_PREFIX_LENGTH : 0);
  return length >= 0 && length <= bytes.length * 8 ? { bytes, length } : undefined;
}

/** Bits in front of the IPv4 address in `::ffff:10.0.0.1`. */
const MAPPED_PREFIX_LENGTH = 96;

function maskBytes(bytes: AddressBytes, length: number): number[] {
  return bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, length - 8 * index))) & 0xff);
}
