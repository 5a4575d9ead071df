import { parseProtocol } from '../../net/protocol.ts';
import { parseAddressPort, parseHexAddressPort } from './address-port.ts';
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

/** `list`: what `ipvsadm -Ln` prints. `proc`: `/proc/net/ip_vs`. */
export type ListForm = 'list' | 'proc';

/**
 * Reads the two listings of the kernel's virtual servers; both tell connections. They differ: `proc` needs no process, but has no
 * scheduler flags (they read as `undefined`), its `persistenceSeconds` is in kernel ticks (how many make a second is a build option of
 * the kernel), and **it may lack virtual servers**: where several network namespaces of a kernel have some, reading past a page can
 * skip one. Services by firewall mark or for every port are left out, they are never ours. A line of any other form gives `undefined`:
 * better no reading than a wrong one.
 *
 * Source: Linux net/netfilter/ipvs/ip_vs_ctl.c, ip_vs_info_seq_next; ipvsadm.c, print_service_entry
 */
export function parseIpvsList(text: string, form: ListForm): IpvsState | undefined {
  const state = new Map<VirtualServerKey, VirtualServer>();
  let reals: Map<RealServerKey, RealServer> | undefined;
  for (const line of afterHeader(text)) {
    const words = line.trim().split(/\s+/);
    if (words[0] === '') continue;
    if (words[0] === '->') {
      if (!reals) continue;
      const real = parseReal(words, form);
      if (!real) return undefined;
      reals.set(realServerKey(real), real);
    } else if (words[0] === 'FWM' || EVERY_PORT.test(words[1] ?? '')) {
      reals = undefined;
    } else {
      reals = new Map();
      const server = parseServer(words, form, reals);
      if (!server) return undefined;
      state.set(virtualServerKey(server), server);
    }
  }
  return state;
}

/** A line with the version comes first, unless `ipvsadm -Ln` was asked for one virtual server. */
function afterHeader(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.slice(lines.findIndex((line) => line.startsWith('  -> RemoteAddress:Port')) + 1);
}

/** A persistent service may take every port of its address: `172.20.1.1:0` in a list, `AC140101:0000` in the file. */
const EVERY_PORT = /:0+$/;

/** `PROTOCOL ADDRESS:PORT SCHEDULER`, then `(flags)` and `persistent SECONDS` if there are any. */
function parseServer(
  words: readonly string[],
  form: ListForm,
  realServers: Map<RealServerKey, RealServer>,
): VirtualServer | undefined {
  const [protocolText, target = '', scheduler, ...rest] = words;
  const protocol = parseProtocol(protocolText);
  const frontend = PARSE_ADDRESS_PORT[form](target);
  if (!protocol || !frontend || !scheduler) return undefined;
  const persistent = rest.indexOf('persistent');
  const persistenceSeconds = persistent < 0 ? 0 : Number(rest[persistent + 1]);
  if (!Number.isInteger(persistenceSeconds)) return undefined;
  const flags = /^\((.+)\)$/.exec(rest[0] ?? '')?.[1];
  const schedulerFlags = form === 'proc' ? undefined : (flags?.split(',') ?? []);
  return { protocol, ...frontend, scheduler, schedulerFlags, persistenceSeconds, realServers };
}

/** `-> ADDRESS:PORT METHOD WEIGHT ACTIVE INACTIVE` */
function parseReal(words: readonly string[], form: ListForm): RealServer | undefined {
  const backend = PARSE_ADDRESS_PORT[form](words[1] ?? '');
  const forwarding = METHODS[words[2] ?? ''];
  const [weight, active, inactive] = words.slice(3, 6).map(Number);
  if (!backend || !forwarding || weight === undefined || active === undefined || inactive === undefined)
    return undefined;
  if (!Number.isInteger(weight) || !Number.isInteger(active + inactive)) return undefined;
  return { ...backend, forwarding, weight, connections: active + inactive };
}

const PARSE_ADDRESS_PORT = { list: parseAddressPort, proc: parseHexAddressPort } as const;

const METHODS: Readonly<Record<string, Forwarding>> = {
  Masq: 'masquerade',
  Route: 'route',
  Tunnel: 'tunnel',
  Local: 'local',
  Bypass: 'bypass',
};
