import { parseProtocol } from '../../net/protocol.ts';
import { parseAddressPort, parseHexAddressPort } from './address-port.ts';
import { blocksOf, isListing, wordsByLine } from './listing.ts';
import {
  type Forwarding,
  type IpvsState,
  type RealServer,
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
 * skip one. Services by firewall mark or for every port are left out, they are never ours. Anything of another
 * form, such as no output at all, gives `undefined`: better no reading than a wrong one.
 *
 * Source: Linux net/netfilter/ipvs/ip_vs_ctl.c, ip_vs_info_seq_next; ipvsadm.c, print_service_entry
 */
export function parseIpvsList(text: string, form: ListForm): IpvsState | undefined {
  const state = new Map<VirtualServerKey, VirtualServer>();
  if (!isListing(text)) return undefined;
  for (const block of blocksOf(text)) {
    const server = parseIpvsBlock(block, form);
    if (!server) return undefined;
    if (server !== 'not-ours') state.set(virtualServerKey(server), server);
  }
  return state;
}

/** The same for the part of a listing that tells of one virtual server. */
export function parseIpvsBlock(block: string, form: ListForm): VirtualServer | 'not-ours' | undefined {
  const reals: RealServer[] = [];
  let server: VirtualServer | undefined;
  for (const words of wordsByLine(block)) {
    if (server) {
      const real = words[0] === '->' ? parseReal(words, form) : undefined;
      if (!real) return undefined;
      reals.push(real);
    } else {
      if (words[0] === '->' || words[0] === 'FWM' || EVERY_PORT.test(words[1] ?? '')) return 'not-ours';
      server = parseServer(words, form, reals);
      if (!server) return undefined;
    }
  }
  return server ?? 'not-ours';
}

/** A persistent service may take every port of its address: `172.20.1.1:0` in a list, `AC140101:0000` in the file. */
const EVERY_PORT = /:0+$/;

/** `PROTOCOL ADDRESS:PORT SCHEDULER`, then `(flags)` and `persistent SECONDS` if there are any. */
function parseServer(
  words: readonly string[],
  form: ListForm,
  realServers: readonly RealServer[],
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
  const [, target = '', method = '', weightText, active, inactive] = words;
  const backend = PARSE_ADDRESS_PORT[form](target);
  const forwarding = METHODS[method];
  const [weight, connections] = [Number(weightText), Number(active) + Number(inactive)];
  if (!backend || !forwarding || !Number.isInteger(weight) || !Number.isInteger(connections)) return undefined;
  return { ...backend, forwarding, weight, connections };
}

const PARSE_ADDRESS_PORT = { list: parseAddressPort, proc: parseHexAddressPort } as const;

const METHODS: Readonly<Record<string, Forwarding>> = {
  Masq: 'masquerade',
  Route: 'route',
  Tunnel: 'tunnel',
  Local: 'local',
  Bypass: 'bypass',
};
