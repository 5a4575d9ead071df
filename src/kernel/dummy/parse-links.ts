import type { InterfaceAddress } from '../../net/cidr.ts';
import { parseAddressShow } from './parse.ts';

/** One interface of the node. */
export interface Link {
  readonly name: string;
  /** E.g. `dummy`, `bridge`; `none` for hardware. */
  readonly kind: string;
  /** E.g. `NOARP`, `UP`. */
  readonly flags: readonly string[];
  readonly addresses: readonly InterfaceAddress[];
}

/** Reads what `ip -json -details address show` prints. Text of any other form gives `undefined`. */
export function parseLinks(text: string): readonly Link[] | undefined {
  const addresses = parseAddressShow(text);
  if (!addresses) return undefined;
  return (JSON.parse(text) as readonly JsonLink[]).flatMap((link): Link[] => {
    if (typeof link?.ifname !== 'string') return [];
    const kind = link.linkinfo?.info_kind;
    return [
      {
        name: link.ifname,
        kind: typeof kind === 'string' ? kind : 'none',
        flags: (link.flags ?? []).map(String),
        addresses: addresses.get(link.ifname) ?? [],
      },
    ];
  });
}

/** Reads what `ip -json route show default` prints: the interfaces by which those routes leave. */
export function parseUplinks(text: string): ReadonlySet<string> | undefined {
  const routes = parseRoutes(text);
  if (!Array.isArray(routes)) return undefined;
  const names = (routes as readonly JsonRoute[]).flatMap((route) => [
    route?.dev,
    ...(route?.nexthops ?? []).map(({ dev }) => dev),
  ]);
  return new Set(names.filter((name) => typeof name === 'string'));
}

interface JsonLink {
  readonly ifname?: unknown;
  readonly flags?: readonly unknown[];
  readonly linkinfo?: { readonly info_kind?: unknown };
}

interface JsonRoute {
  readonly dev?: unknown;
  readonly nexthops?: readonly { readonly dev?: unknown }[];
}

/** Some releases print nothing where there are no routes. */
function parseRoutes(text: string): unknown {
  try {
    return text.trim() === '' ? [] : JSON.parse(text);
  } catch {
    return undefined;
  }
}
