import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import { cidrFamily } from '../net/cidr.ts';
import { familyOf } from '../net/ip-address.ts';
import type { NodeFacts, Wishes } from './facts.ts';
import { type Checked, found, NOTHING_FOUND, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'sysctls' | 'links' | 'uplinks'>;

/** Settings of the way of packets that the daemon leaves alone, and that Services depend on. */
export function checkForwarding(facts: Facts, wishes: Pick<Wishes, 'clusterCIDRs'>): Checked {
  return together([checkBridges(facts), checkReversePaths(facts), checkIpv6(facts, wishes)]);
}

/** Answers between two Pods of one bridge must come by the rules of the node. */
function checkBridges({ sysctls, links }: Facts): Checked {
  if (!links.ok) return notChecked('bridges', links.error);
  const bridges = links.value.filter(({ kind, name }) => kind === 'bridge' && !OTHERS_BRIDGES.test(name));
  const setting = 'net/bridge/bridge-nf-call-iptables';
  if (bridges.length === 0 || sysctls.get(setting) === '1') return NOTHING_FOUND;
  const value = sysctls.get(setting);
  return found({
    level: 'warning',
    id: 'bridge-not-filtered',
    saw: `${bridges.map(({ name }) => name).join(', ')}: bridge; net.bridge.bridge-nf-call-iptables is ${value ?? 'not there'}`,
    matters:
      'a Pod that reaches, through a Service, another one of its own bridge gets the answer from an address that it did not ask',
    remedy:
      'modprobe br_netfilter; sysctl -w net.bridge.bridge-nf-call-iptables=1; not needed where the plugin routes between Pods',
  });
}

/** Bridges of Docker and libvirt have no Pods. */
const OTHERS_BRIDGES = /^(?:docker|br-[0-9a-f]{12}$|virbr|lxcbr|lxdbr)/;

/** The larger of the two values counts; 1 is strict. */
function checkReversePaths({ sysctls, uplinks }: Facts): Checked {
  if (!uplinks.ok) return notChecked('rp_filter', uplinks.error);
  if (uplinks.value.size < 2) return NOTHING_FOUND;
  const modeOf = (name: string) => Number(sysctls.get(reversePathSetting(name)) ?? 0);
  const strict = [...uplinks.value].filter((name) => Math.max(modeOf('all'), modeOf(name)) === 1);
  if (strict.length === 0) return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'reverse-path-strict',
    saw: `default routes leave by ${[...uplinks.value].join(', ')}, and rp_filter is strict on ${strict.join(', ')}`,
    matters: 'packets for Services that come in by another interface than answers leave by are dropped',
    remedy: strict.map((name) => `sysctl -w net.ipv4.conf.${name}.rp_filter=2`).join('; '),
  });
}

/** What is read for these checks and for that of ARP, below `/proc/sys/`. */
export const FORWARDING_SETTINGS: readonly string[] = [
  'net/bridge/bridge-nf-call-iptables',
  'net/ipv6/conf/all/forwarding',
  'net/ipv4/conf/all/arp_ignore',
  'net/ipv4/conf/all/rp_filter',
];

export function reversePathSetting(name: string): string {
  return `net/ipv4/conf/${name}/rp_filter`;
}

/** The daemon forwards IPv4 by itself, and leaves IPv6 to the operator, as kube-proxy does. */
function checkIpv6({ sysctls, links }: Facts, { clusterCIDRs }: Pick<Wishes, 'clusterCIDRs'>): Checked {
  const bound = links.ok ? (links.value.find(({ name }) => name === DUMMY_INTERFACE)?.addresses ?? []) : [];
  const isServed =
    clusterCIDRs.some((cidr) => cidrFamily(cidr) === 'IPv6') ||
    bound.some(({ address }) => familyOf(address) === 'IPv6' && !address.startsWith('fe80:'));
  if (!isServed || sysctls.get('net/ipv6/conf/all/forwarding') !== '0') return NOTHING_FOUND;
  return found({
    level: 'error',
    id: 'ipv6-not-forwarded',
    saw: 'net.ipv6.conf.all.forwarding is 0',
    matters:
      'IPv6 Services reach no Pod; the daemon leaves it alone, as it also changes how the node learns its routes',
    remedy:
      'sysctl -w net.ipv6.conf.all.forwarding=1; where routes come by router advertisements, accept_ra=2 on that interface too',
  });
}
