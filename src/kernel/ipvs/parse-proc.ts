import { formatAddress, type IpAddress, parseIpAddress } from '../../net/ip-address.ts';
import { type Port, parsePort } from '../../net/port.ts';
import { parseProtocol } from '../../net/protocol.ts';
import {
  type Forwarding,
  type IpvsState,
  type RealServer,
  type RealServerKey,
  realServerKey,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from './state.ts';

/**
 * Reads `/proc/net/ip_vs`: cheap (one file, no process), but without scheduler flags, and `persistenceSeconds` is in kernel ticks: how
 * many make a second is a build option of the kernel. Services by firewall mark are left out, they are never ours. A line of any other form gives `undefined`: better no reading than a wrong one.
 *
 * Source: Linux net/netfilter/ipvs/ip_vs_ctl.c, ip_vs_info_seq_show
 */
export function parseProcIpvs(text: string): IpvsState | undefined {
  const state = new Map<VirtualServerKey, VirtualServer>();
  let reals: Map<RealServerKey, RealServer> | undefined;
  for (const line of text.split('\n').slice(HEADER_LINES)) {
    const words = line.trim().split(/\s+/);
    if (words[0] === '') continue;
    if (words[0] === 'FWM') {
      reals = undefined;
    } else if (words[0] === '->') {
      const real = parseReal(words);
      if (!real) return undefined;
      reals?.set(realServerKey(real), real);
    } else {
      reals = new Map();
      const server = parseServer(words, reals);
      if (!server) return undefined;
      state.set(virtualServerKey(server), server);
    }
  }
  return state;
}

const HEADER_LINES = 3;

function parseServer(
  words: readonly string[],
  realServers: Map<RealServerKey, RealServer>,
): VirtualServer | undefined {
  const [protocolText, target = '', scheduler, ...flags] = words;
  const protocol = parseProtocol(protocolText);
  const frontend = parseHexAddressPort(target);
  if (!protocol || !frontend || !scheduler) return undefined;
  const persistent = flags.indexOf('persistent');
  const persistenceSeconds = persistent < 0 ? 0 : Number(flags[persistent + 1]);
  if (!Number.isInteger(persistenceSeconds)) return undefined;
  return { protocol, ...frontend, scheduler, schedulerFlags: undefined, persistenceSeconds, realServers };
}

/** `-> ADDRESS:PORT METHOD WEIGHT ACTIVE INACTIVE` */
function parseReal(words: readonly string[]): RealServer | undefined {
  const backend = parseHexAddressPort(words[1] ?? '');
  const forwarding = METHODS[words[2] ?? ''];
  const [weight, active, inactive] = words.slice(3, 6).map(Number);
  if (!backend || !forwarding || weight === undefined || active === undefined || inactive === undefined)
    return undefined;
  if (!Number.isInteger(weight) || !Number.isInteger(active + inactive)) return undefined;
  return { ...backend, forwarding, weight, connections: active + inactive };
}

/** `AC140101:0050` or `[fd00:0096:…]:0050`, all of it hexadecimal. */
function parseHexAddressPort(text: string): { address: IpAddress; port: Port } | undefined {
  const match = /^(?:([0-9A-F]{8})|\[([0-9a-f:.]+)\]):([0-9A-F]{4})$/.exec(text);
  if (!match) return undefined;
  const [, ipv4, ipv6 = '', portText = ''] = match;
  const address = ipv4
    ? formatAddress(ipv4.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [])
    : parseIpAddress(ipv6);
  const port = parsePort(Number.parseInt(portText, 16));
  return address && port ? { address, port } : undefined;
}

const METHODS: Readonly<Record<string, Forwarding>> = {
  Masq: 'masquerade',
  Route: 'route',
  Tunnel: 'tunnel',
  Local: 'local',
  Bypass: 'bypass',
};
