import { parseProtocol } from '../../net/protocol.ts';
import { parseHexAddressPort } from './address-port.ts';
import { wordsByLine } from './listing.ts';
import { type RealServerKey, realServerKey, type VirtualServerKey, virtualServerKey } from './state.ts';

/** How one real server stands in the kernel. */
export interface Standing {
  readonly weight: number;
  /** Connections that are established. */
  readonly active: number;
  /** Those that are not, new and ended ones. */
  readonly inactive: number;
}

/** How one virtual server and its real servers stand. */
export interface ServerStanding {
  readonly key: VirtualServerKey;
  readonly reals: ReadonlyMap<RealServerKey, Standing>;
}

/**
 * Reads the part of `/proc/net/ip_vs` that tells of one virtual server, as `blocksOf` gives it; `undefined` for one that is not wanted, of
 * which no more than its own line is read.
 */
export function parseStanding(
  block: string,
  wanted: Pick<ReadonlySet<VirtualServerKey>, 'has'>,
): ServerStanding | undefined {
  const reals = new Map<RealServerKey, Standing>();
  let key: VirtualServerKey | undefined;
  for (const words of wordsByLine(block)) {
    const [first, target = ''] = words;
    const end = parseHexAddressPort(target);
    if (!end) return undefined;
    if (first === '->') {
      const [weight = 0, active = 0, inactive = 0] = words.slice(3).map(Number);
      reals.set(realServerKey(end), { weight, active, inactive });
    } else {
      const protocol = parseProtocol(first);
      key = protocol && virtualServerKey({ protocol, ...end });
      if (key === undefined || !wanted.has(key)) return undefined;
    }
  }
  return key === undefined ? undefined : { key, reals };
}
