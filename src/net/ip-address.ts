import type { Family } from './family.ts';

declare const brand: unique symbol;

/**
 * An IPv4 or IPv6 address as its canonical text, so that equal addresses are equal strings and serve as Map keys.
 * IPv6 is lower case and compressed as in RFC 5952; an IPv4-mapped IPv6 address is the IPv4 address.
 */
export type IpAddress = string & { readonly [brand]: 'IpAddress' };

/** The bytes of an address in network order: 4 for IPv4, 16 for IPv6. */
export type AddressBytes = readonly number[];

/**
 * Reads an address in the tolerant form of Kubernetes: leading zeros of an IPv4 octet are decimal. A zone ("%eth0"), a
 * prefix length, blanks and every other notation give `undefined`.
 *
 * Source: k8s.io/utils/net ParseIPSloppy
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (CANONICAL_IPV4.test(text)) return text as IpAddress;
  const bytes = parseAddressBytes(text);
  return bytes && formatAddress(bytes);
}

/** What nearly every endpoint has; nothing is to be made of it. */
const CANONICAL_IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

export function parseAddressBytes(text: string): AddressBytes | undefined {
  if (!text.includes(':')) return parseIpv4(text);
  const bytes = parseIpv6(text);
  return bytes && isMapped(bytes) ? bytes.slice(12) : bytes;
}

/** The canonical text of 4 or 16 bytes. */
export function formatAddress(bytes: AddressBytes): IpAddress {
  return (bytes.length === 4 ? bytes.join('.') : formatIpv6(bytes)) as IpAddress;
}

export function familyOf(address: IpAddress): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

/** 127.0.0.0/8 or ::1. */
export function isLoopback(address: IpAddress): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** 169.254.0.0/16 or fe80::/10. */
export function isLinkLocal(address: IpAddress): boolean {
  return address.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/.test(address);
}

/** 0.0.0.0/8 or ::. */
export function isUnspecified(address: IpAddress): boolean {
  return address.startsWith('0.') || address === '::';
}

/** True for an address that clients can dial: neither unspecified nor loopback, multicast or broadcast. */
export function isDialable(address: IpAddress): boolean {
  return !isUnspecified(address) && !isLoopback(address) && !isMulticastOrBroadcast(address);
}

/** 224.0.0.0/4, 255.255.255.255 or ff00::/8: no connection can have such a peer. */
export function isMulticastOrBroadcast(address: IpAddress): boolean {
  if (address.includes(':')) return address.startsWith('ff') && address.indexOf(':') === 4;
  const first = Number(address.slice(0, address.indexOf('.')));
  return (first >= 224 && first <= 239) || address === '255.255.255.255';
}

/** `ADDRESS:PORT`, IPv6 in brackets, as `ipvsadm` and Kubernetes print it. */
export function formatAddressPort(address: IpAddress, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : Number.NaN));
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = [parseGroups(halves[0] ?? '', halves.length === 1), parseGroups(halves[1] ?? '', true)];
  if (!head || !tail) return undefined;
  if (halves.length === 1) return head.length === 16 ? head : undefined;
  const missing = 16 - head.length - tail.length;
  return missing >= 2 ? [...head, ...Array<number>(missing).fill(0), ...tail] : undefined;
}

/** The bytes of colon-separated groups; the last one may be dotted IPv4 if `mayEndInIpv4`. */
function parseGroups(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    } else {
      const dotted = mayEndInIpv4 && index === groups.length - 1 ? parseIpv4(group) : undefined;
      if (!dotted) return undefined;
      bytes.push(...dotted);
    }
  }
  return bytes;
}

function isMapped(bytes: AddressBytes): boolean {
  return bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
}

function formatIpv6(bytes: AddressBytes): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  const { start, length } = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}
