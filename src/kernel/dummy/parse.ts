import type { InterfaceAddress } from '../../net/cidr.ts';
import { familyOf, isLinkLocal, isLoopback, parseIpAddress } from '../../net/ip-address.ts';
import { DUMMY_INTERFACE, type DummyState } from './state.ts';

/**
 * Reads what `ip -json address show` prints: addresses by interface, IPv4 and IPv6. An interface without addresses is there with
 * an empty list. Text of any other form gives `undefined`.
 */
export function parseAddressShow(text: string): ReadonlyMap<string, readonly InterfaceAddress[]> | undefined {
  const links = parseJson(text);
  if (!Array.isArray(links)) return undefined;
  const interfaces = new Map<string, readonly InterfaceAddress[]>();
  for (const link of links as readonly JsonLink[]) {
    if (typeof link?.ifname !== 'string') continue;
    if (!Array.isArray(link.addr_info ?? [])) return undefined;
    interfaces.set(link.ifname, (link.addr_info ?? []).flatMap(readAddress));
  }
  return interfaces;
}

/**
 * Reads what `ip -json -details link show` prints: the kind of one interface, e.g. `dummy`. `none` where there is no such interface, or it
 * is of no kind, as hardware is. Text of any other form gives `undefined`.
 */
export function parseLinkKind(text: string, name: string): string | undefined {
  const links = parseJson(text);
  if (!Array.isArray(links)) return undefined;
  const link = (links as readonly JsonLink[]).find((each) => each?.ifname === name);
  const kind = link?.linkinfo?.info_kind;
  return typeof kind === 'string' ? kind : 'none';
}

/** The dummy interface among all interfaces. */
export function dummyOf(interfaces: ReadonlyMap<string, readonly InterfaceAddress[]>): DummyState {
  const bound = interfaces.get(DUMMY_INTERFACE) ?? [];
  const served = bound.map(({ address }) => address).filter((address) => !isLoopback(address));
  return {
    exists: interfaces.has(DUMMY_INTERFACE),
    addresses: new Set(served.filter((address) => familyOf(address) === 'IPv4' || !isLinkLocal(address))),
  };
}

interface JsonLink {
  readonly ifname?: unknown;
  readonly linkinfo?: { readonly info_kind?: unknown };
  readonly addr_info?: readonly { readonly local?: string; readonly prefixlen?: number }[];
}

function readAddress(info: { readonly local?: string; readonly prefixlen?: number } | null): InterfaceAddress[] {
  const address = parseIpAddress(info?.local ?? '');
  return address === undefined ? [] : [{ address, prefixLength: info?.prefixlen ?? 0 }];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
