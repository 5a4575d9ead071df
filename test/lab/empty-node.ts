/** Sysctls that a proxy changes or the lab needs, with what a node starts with. */
const NODE_SYSCTLS: Readonly<Record<string, number>> = {
  'net.ipv4.ip_forward': 1,
  'net.ipv6.conf.all.forwarding': 1,
  'net.ipv4.conf.all.route_localnet': 0,
  'net.ipv4.conf.all.arp_ignore': 0,
  'net.ipv4.conf.all.arp_announce': 0,
  // Else the kernel tells a peer of a few refused packets, then of one a second.
  'net.ipv4.icmp_ratelimit': 0,
  'net.ipv6.icmp.ratelimit': 0,
  'net.ipv4.vs.conntrack': 0,
  'net.ipv4.vs.conn_reuse_mode': 1,
  'net.ipv4.vs.expire_nodest_conn': 0,
  'net.ipv4.vs.expire_quiescent_template': 0,
  'net.netfilter.nf_conntrack_tcp_be_liberal': 0,
  'net.netfilter.nf_conntrack_tcp_timeout_close_wait': 60,
  'net.netfilter.nf_conntrack_tcp_timeout_established': 432_000,
  'net.netfilter.nf_conntrack_udp_timeout': 30,
  'net.netfilter.nf_conntrack_udp_timeout_stream': 120,
};

const SETTINGS = Object.entries(NODE_SYSCTLS).map(([name, value]) => `${name}=${value}`);
const EMPTY_TABLES = ['filter', 'nat', 'mangle'].map((table) => `*${table}\\nCOMMIT\\n`).join('');

/**
 * Shell text that brings a node into its first state, run in the node's namespace. A restore without --noflush leaves a
 * table with its empty built-in chains; sets can go only after the rules that use them. IPVS timeouts are the kernel's.
 */
export const EMPTY_NODE_SCRIPT = [
  'set -e',
  `printf '${EMPTY_TABLES}' | iptables-restore -w 5`,
  `printf '${EMPTY_TABLES}' | ip6tables-restore -w 5`,
  'ipset flush',
  'ipset destroy',
  'ipvsadm -C',
  'ipvsadm --set 900 120 300',
  'ip -br link show type dummy | while read -r name rest; do ip link delete "$name"; done',
  `sysctl -qe ${SETTINGS.join(' ')}`,
  'conntrack -F',
].join('\n');
