import type { Link } from '../kernel/dummy/parse-links.ts';
import { parseEveryTable } from '../kernel/iptables/parse.ts';
import type { EveryTable } from '../kernel/iptables/state.ts';
import { parseIpvsList } from '../kernel/ipvs/parse-list.ts';
import { succeed } from '../model/result.ts';
import { type Cidr, parseInterfaceAddress } from '../net/cidr.ts';
import type { IpvsFacts, NodeFacts, ToolAnswer, Wishes } from './facts.ts';
import { type Checked, FINDING_LEVELS } from './finding.ts';

/** `link('eth0', ['192.168.0.10/24'])` */
export function link(name: string, addresses: readonly string[] = [], others: Partial<Link> = {}): Link {
  const parsed = addresses.map((text) => parseInterfaceAddress(text));
  return { name, kind: 'none', flags: ['UP'], addresses: parsed.filter((each) => each !== undefined), ...others };
}

/** `kube-ipvs0` as the daemon makes it. */
export function dummy(addresses: readonly string[]): Link {
  return link('kube-ipvs0', addresses, { kind: 'dummy', flags: ['BROADCAST', 'NOARP'] });
}

export function version(text: string): ToolAnswer {
  return { kind: 'version', text };
}

/** From what `iptables-save` prints. */
export function tables(text: string): EveryTable {
  const parsed = parseEveryTable(text);
  if (!parsed) throw new Error(`these are no rules: ${text}`);
  return parsed;
}

/** IPVS with virtual servers from lines of `/proc/net/ip_vs`. */
export function ipvs(lines: readonly string[] = [], others: Partial<IpvsFacts> = {}): IpvsFacts {
  const text = ['IP Virtual Server version 1.2.1 (size=4096)', 'Prot', '  -> RemoteAddress:Port', ...lines, ''].join(
    '\n',
  );
  const servers = parseIpvsList(text, 'proc');
  if (!servers) throw new Error(`these are no virtual servers: ${text}`);
  return { servers, connections: 0, tableBits: succeed(12), ...others };
}

const NO_RULES = { IPv4: succeed(new Map()), IPv6: succeed(new Map()) } as const;

/** A node on which nothing is wrong and nothing runs yet. */
export const HEALTHY: NodeFacts = {
  kernelRelease: '6.1.0-18-amd64',
  ipvs: succeed(ipvs()),
  ipvsModule: succeed('there'),
  schedulerModule: succeed('there'),
  hasIpv6: true,
  tools: new Map([
    ['ipvsadm', version('ipvsadm v1.31 2019/12/24 (compiled with popt and IPVS v1.2.1)')],
    ['ipset', version('ipset v7.17')],
    ['ip', version('ip utility, iproute2-6.1.0, libbpf 1.1.0')],
    ['iptables', version('iptables v1.8.9 (nf_tables)')],
    ['ip6tables', version('ip6tables v1.8.9 (nf_tables)')],
    ['conntrack', version('conntrack v1.4.7 (conntrack-tools)')],
  ]),
  rules: { legacy: NO_RULES, nft: NO_RULES },
  ruleLock: undefined,
  nftTables: succeed(''),
  links: succeed([link('lo', ['127.0.0.1/8']), link('eth0', ['192.168.0.10/24', 'fd00:168::10/64'])]),
  uplinks: succeed(new Set(['eth0'])),
  sysctls: new Map<string, string | undefined>([
    ['net/ipv4/ip_forward', '1'],
    ['net/ipv4/vs/conntrack', '1'],
    ['net/ipv4/vs/conn_reuse_mode', '1'],
    ['net/ipv4/conf/all/arp_ignore', '0'],
    ['net/ipv6/conf/all/forwarding', '1'],
    ['net/netfilter/nf_conntrack_count', '100'],
    ['net/netfilter/nf_conntrack_max', '131072'],
    ['net/ipv4/neigh/default/gc_thresh3', '1024'],
    ['net/core/somaxconn', '4096'],
  ]),
  sysctlLines: succeed([]),
  proxier: succeed(undefined),
  listening: succeed(new Set([22])),
  proxyMode: undefined,
  apiServer: succeed({
    url: 'https://192.168.0.1:6443',
    addresses: succeed([]),
    connection: succeed(undefined),
    credentials: 'given',
  }),
};

export const WISHES: Wishes = {
  scheduler: 'rr',
  unknownScheduler: 'stop',
  connReuseMode: undefined,
  strictArp: false,
  sysctls: [
    { path: 'net/ipv4/vs/conntrack', value: '1', need: 'required' },
    { path: 'net/ipv4/ip_forward', value: '1', need: 'required' },
  ],
  ports: [
    { server: 'health', port: 10_256 },
    { server: 'metrics', port: 10_249 },
  ],
  clusterCIDRs: ['10.180.0.0/16' as Cidr],
};

/** The healthy node with other settings, too. */
export function withSettings(settings: Readonly<Record<string, string | undefined>>): NodeFacts {
  return { ...HEALTHY, sysctls: new Map([...HEALTHY.sysctls, ...Object.entries(settings)]) };
}

/** `error ipvs-missing`, `not checked: bridges`: what a check says, in short. */
export function inShort({ findings, notChecked }: Checked): readonly string[] {
  return [
    ...FINDING_LEVELS.flatMap((level) => findings.filter((each) => each.level === level)).map(
      ({ level, id }) => `${level} ${id}`,
    ),
    ...notChecked.map(({ what }) => `not checked: ${what}`),
  ];
}
