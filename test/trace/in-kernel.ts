import type { Desired } from '../../src/desired/desired.ts';
import type { Family } from '../../src/net/family.ts';
import { renderFullState } from '../../src/plan/scripts.ts';
import { ip } from '../builders/net.ts';
import type { Lab } from '../lab/lab.ts';
import type { Traffic } from '../lab/traffic.ts';
import { parseAsk } from './ask.ts';
import type { BuiltInChains } from './chains.ts';
import { addressOf, type NodeName, nameOf } from './place.ts';

/** Brings a node of the lab into a state from nothing, with the administrator's rules around it. */
export async function programNode(
  lab: Lab,
  node: NodeName,
  states: readonly Desired[],
  builtIn: BuiltInChains = {},
): Promise<void> {
  const { ipset, iptables, ip6tables, ipvs, address } = renderFullState(states);
  const steps: readonly (readonly [string, string])[] = [
    ['sysctl -q -p -', 'net.ipv4.vs.conntrack=1\nnet.ipv4.vs.expire_nodest_conn=1\n'],
    ['iptables-restore --noflush', administration(builtIn, [])],
    ['ip6tables-restore --noflush', administration(builtIn, NEIGHBOUR_DISCOVERY)],
    ['ipset restore', ipset],
    ['iptables-restore --noflush', iptables + insertions(builtIn)],
    ['ip6tables-restore --noflush', ip6tables + insertions(builtIn)],
    ['ipvsadm -R', ipvs],
    ['ip -batch -', address],
  ];
  await lab.resetNode(node);
  // One shell for all: starting a process inside a namespace takes longer than most of them.
  const script = steps.map(([command, input]) => `${command} <<'END'\n${input}END\n`).join('');
  await lab.output(node, 'sh', ['-e'], { input: script });
}

/** Policies, and what was there before the proxier; answers always pass, as they are not traced. */
function administration({ PREROUTING, INPUT, FORWARD, OUTPUT }: BuiltInChains, needed: readonly string[]): string {
  const lines = (chain: string, rules: readonly string[] = []) => rules.map((rule) => `-A ${chain} ${rule}`);
  const policies = Object.entries({ INPUT, FORWARD, OUTPUT }).map(
    ([chain, given]) => `:${chain} ${given?.policy ?? 'ACCEPT'} [0:0]`,
  );
  const answers = ['INPUT', 'FORWARD', 'OUTPUT'].map(
    (chain) => `-A ${chain} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`,
  );
  const filter = [...policies, ...answers, ...lines('INPUT', [...needed, ...(INPUT?.before ?? [])])];
  return `*nat\n${[...lines('PREROUTING', PREROUTING?.before), 'COMMIT', '*filter', ...filter].join('\n')}\nCOMMIT\n`;
}

/** Without it an IPv6 node cannot even be found. */
const NEIGHBOUR_DISCOVERY = [135, 136].map((type) => `-p ipv6-icmp -m icmp6 --icmpv6-type ${type} -j ACCEPT`);

function insertions({ INPUT }: BuiltInChains): string {
  const lines = (INPUT?.inserted ?? []).toReversed().map((rule) => `-I INPUT ${rule}\n`);
  return `*filter\n${lines.join('')}COMMIT\n`;
}

/** Whether the lab can ask it: it has no node-c, sends no pings, and its clients know the way to other addresses than nodes by node-a only. */
export function canAsk(text: string): boolean {
  return !/c1|node-c| at | established| ping|169\.254|^client → cluster/.test(text);
}

/** Sends that many packets and says what came back: `a1 sees a2 | b1 sees a2`, `refused`, `timeout` and the like. */
export async function askKernel(
  text: string,
  family: Family,
  traffic: Traffic,
  { times, patienceMs }: { readonly times: number; readonly patienceMs: number },
): Promise<string> {
  const { from, packet } = parseAsk(text, family);
  const { answers, troubles } = await traffic.ask({
    from: from === 'stranger' ? 'client' : from,
    protocol: packet.protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp',
    address: packet.destination,
    port: packet.port ?? 0,
    times,
    patienceMs,
    ...(from === 'stranger' ? { source: addressOf(from, family) } : {}),
  });
  const seen = [...answers.keys()].map((answer) => {
    const [server = '', peer = ''] = answer.split(' ');
    return `${server} sees ${nameOf(ip(peer))}`;
  });
  // A UDP socket of the node is told "not permitted" where others are told "refused".
  const heard = [...troubles.keys()].map((trouble) => (trouble === 'forbidden' ? 'refused' : trouble));
  return [...new Set([...seen, ...heard])].sort().join(' | ');
}

/** The same of what was traced; `undefined` for what leaves to where nobody is, or comes to a port on which the lab has no server. */
export function heardOf(traced: string): string | undefined {
  const parts = traced.split(' | ').map((part) => {
    if (/ in vain$|^dropped/.test(part)) return 'timeout';
    if (part.startsWith('refused')) return 'refused';
    const passed = /^passed on to ([ab]\d) as (\S+)$/.exec(part);
    if (passed) return `${passed[1]} sees ${passed[2]}`;
    const own = /^(node-[ab]):22 sees (\S+)$/.exec(part);
    if (own) return `${own[1]} sees ${own[2]}`;
    return /^\S+:\d+ sees |^passed on/.test(part) ? undefined : part;
  });
  return parts.includes(undefined) ? undefined : [...new Set(parts)].sort().join(' | ');
}
