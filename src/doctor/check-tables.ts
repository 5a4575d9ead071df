import type { NodeFacts } from './facts.ts';
import { type Checked, found, NOTHING_FOUND, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'sysctls' | 'ipvs'>;

/** How full tables of the kernel are, and limits that are small for a large cluster. */
export function checkTables(facts: Facts): Checked {
  return together([checkConntrack(facts), checkConnections(facts), checkNeighbours(facts), checkBacklog(facts)]);
}

function checkConntrack({ sysctls }: Facts): Checked {
  const [count, max] = [numberOf(sysctls, TRACKED), numberOf(sysctls, TRACKED_MAX)];
  if (count === undefined || max === undefined || max === 0) {
    const isThere = sysctls.get(TRACKED) !== undefined || !sysctls.has(TRACKED);
    return isThere ? notChecked('the table of tracked connections', 'its size cannot be read') : NOTHING_FOUND;
  }
  const percent = Math.floor((100 * count) / max);
  if (percent < 75) return NOTHING_FOUND;
  return found({
    level: percent < 95 ? 'warning' : 'error',
    id: 'conntrack-full',
    saw: `${count} of ${max} tracked connections (${percent} %)`,
    matters: 'when it is full, new connections are dropped: nf_conntrack: table full',
    remedy: 'raise conntrack.maxPerCore or conntrack.min (sysctl net.netfilter.nf_conntrack_max)',
  });
}

/** A look-up walks over all that are in one bucket. */
function checkConnections({ ipvs }: Facts): Checked {
  if (!ipvs.ok) return notChecked('the table of IPVS connections', ipvs.error);
  if (!ipvs.value) return NOTHING_FOUND;
  const { connections, tableBits } = ipvs.value;
  if (!tableBits.ok) return notChecked('buckets of the table of IPVS connections', tableBits.error);
  const buckets = 2 ** tableBits.value;
  if (connections <= CONNECTIONS_A_BUCKET * buckets) return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'connection-table-small',
    saw: `${connections} IPVS connections in ${buckets} buckets (conn_tab_bits ${tableBits.value})`,
    matters: 'every packet walks over all connections of its bucket: time in softirq',
    remedy: 'options ip_vs conn_tab_bits=18 in /etc/modprobe.d/ip_vs.conf, and a restart of the node',
  });
}

const CONNECTIONS_A_BUCKET = 8;

/** Real servers on networks of this node are neighbours; one entry each, and the kernel refuses more than this. */
function checkNeighbours({ sysctls, ipvs }: Facts): Checked {
  const limit = numberOf(sysctls, NEIGHBOURS_MAX);
  if (limit === undefined || !ipvs.ok || !ipvs.value) return NOTHING_FOUND;
  const servers = ipvs.value.servers.values();
  const addresses = new Set(servers.flatMap(({ realServers }) => realServers.map(({ address }) => address)));
  if (addresses.size < limit) return NOTHING_FOUND;
  return found({
    level: 'note',
    id: 'neighbours-many',
    saw: `${addresses.size} endpoints, and net.ipv4.neigh.default.gc_thresh3 is ${limit}`,
    matters:
      'where Pods of other nodes are in the same network, as with plugins without an overlay, the table of neighbours overflows',
    remedy: `sysctl -w net.ipv4.neigh.default.gc_thresh3=${2 ** Math.ceil(Math.log2(2 * addresses.size))}`,
  });
}

function checkBacklog({ sysctls }: Facts): Checked {
  const limit = numberOf(sysctls, BACKLOG);
  if (limit === undefined || limit >= LEAST_BACKLOG) return NOTHING_FOUND;
  return found({
    level: 'note',
    id: 'backlog-small',
    saw: `net.core.somaxconn is ${limit}`,
    matters:
      'servers in the network of the node, such as an ingress, drop connections of a burst; IPVS itself does not need it',
    remedy: 'sysctl -w net.core.somaxconn=4096, the default of kernel 5.4 and later',
  });
}

const LEAST_BACKLOG = 1024;

const TRACKED = 'net/netfilter/nf_conntrack_count';
const TRACKED_MAX = 'net/netfilter/nf_conntrack_max';
const NEIGHBOURS_MAX = 'net/ipv4/neigh/default/gc_thresh3';
const BACKLOG = 'net/core/somaxconn';

/** What is read for these checks, below `/proc/sys/`. */
export const TABLE_SETTINGS: readonly string[] = [TRACKED, TRACKED_MAX, NEIGHBOURS_MAX, BACKLOG];

function numberOf(sysctls: Facts['sysctls'], path: string): number | undefined {
  const value = Number(sysctls.get(path) ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}
