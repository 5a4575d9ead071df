import type { Family } from '../../net/family.ts';

export type SetType = 'hash:ip' | 'hash:ip,port' | 'hash:ip,port,ip' | 'hash:ip,port,net' | 'bitmap:port';

/** Name of a set without its family. */
export type SetId = (typeof OF_KUBE_PROXY | typeof OF_OURS)[number]['id'];

export interface SetDefinition {
  readonly id: SetId;
  readonly type: SetType;
  /** Text of the comment of the iptables rules that use the set. */
  readonly comment: string;
}

const OF_KUBE_PROXY = [
  define('LOOP-BACK', 'hash:ip,port,ip', 'Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose'),
  define('CLUSTER-IP', 'hash:ip,port', 'Kubernetes service cluster ip + port for masquerade purpose'),
  define('EXTERNAL-IP', 'hash:ip,port', 'Kubernetes service external ip + port for masquerade and filter purpose'),
  define('EXTERNAL-IP-LOCAL', 'hash:ip,port', 'Kubernetes service external ip + port with externalTrafficPolicy=local'),
  define('LOAD-BALANCER', 'hash:ip,port', 'Kubernetes service lb portal'),
  define(
    'LOAD-BALANCER-FW',
    'hash:ip,port',
    'Kubernetes service load balancer ip + port for load balancer with sourceRange',
  ),
  define(
    'LOAD-BALANCER-LOCAL',
    'hash:ip,port',
    'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
  ),
  define(
    'LOAD-BALANCER-SOURCE-IP',
    'hash:ip,port,ip',
    'Kubernetes service load balancer ip + port + source IP for packet filter purpose',
  ),
  define(
    'LOAD-BALANCER-SOURCE-CIDR',
    'hash:ip,port,net',
    'Kubernetes service load balancer ip + port + source cidr for packet filter purpose',
  ),
  define('NODE-PORT-TCP', 'bitmap:port', 'Kubernetes nodeport TCP port for masquerade purpose'),
  define('NODE-PORT-LOCAL-TCP', 'bitmap:port', 'Kubernetes nodeport TCP port with externalTrafficPolicy=local'),
  define('NODE-PORT-UDP', 'bitmap:port', 'Kubernetes nodeport UDP port for masquerade purpose'),
  define('NODE-PORT-LOCAL-UDP', 'bitmap:port', 'Kubernetes nodeport UDP port with externalTrafficPolicy=local'),
  define(
    'NODE-PORT-SCTP-HASH',
    'hash:ip,port',
    "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
  ),
  define(
    'NODE-PORT-LOCAL-SCTP-HASH',
    'hash:ip,port',
    "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'",
  ),
  define('HEALTH-CHECK-NODE-PORT', 'bitmap:port', 'Kubernetes health check node port'),
  define('IPVS-IPS', 'hash:ip', 'Addresses on the ipvs interface'),
] as const;

const OF_OURS = [
  define(
    'CLUSTER-IP-NO-LOCAL',
    'hash:ip,port',
    'Kubernetes service cluster ip + port with internalTrafficPolicy=local and no local endpoint',
  ),
  define(
    'EXTERNAL-NO-LOCAL',
    'hash:ip,port',
    'Kubernetes external ip + port with externalTrafficPolicy=local and no local endpoint',
  ),
  define('NODE-PORT-IP', 'hash:ip', 'Node addresses that serve Kubernetes node ports'),
] as const;

/**
 * The sets of every family, used or not, in the order in which they are created.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/ipset.go, proxier.go
 */
export const KUBE_PROXY_SETS: readonly SetDefinition[] = OF_KUBE_PROXY;

/** Those and the ones that kube-proxy does not have. */
export const SET_DEFINITIONS: readonly SetDefinition[] = [...OF_KUBE_PROXY, ...OF_OURS];

/** The kernel's limit for the name of a set. */
const NAME_LIMIT = 31;

/** `KUBE-CLUSTER-IP` or `KUBE-6-CLUSTER-IP`; long IPv6 names are cut to what the kernel takes. */
export function setName(id: SetId, family: Family): string {
  return `KUBE-${family === 'IPv6' ? '6-' : ''}${id}`.slice(0, NAME_LIMIT);
}

/** Sets of ours in a family, by name, whatever is wanted now. */
export interface OwnSets {
  readonly names: readonly string[];
  /**
   * A set that stands in for another one until the two are swapped; between passes it is not there. Where the kernel does not let go of the
   * first, there is a second.
   */
  readonly standIns: readonly [string, string];
  /** Whose entries spare those of another set what its rule does, with that set: what is in both is not masqueraded. */
  readonly exemptions: ReadonlyMap<string, string>;
  /** Whose entries close what only entries of other sets open again. */
  readonly closing: ReadonlySet<string>;
  /** Those other sets. */
  readonly opening: ReadonlySet<string>;
  /** Without an entry of theirs the filter refuses new connections to a frontend at a bound address. */
  readonly portals: ReadonlySet<string>;
  /** Whose entries keep clients from endpoints elsewhere. */
  readonly keepLocal: ReadonlySet<string>;
  /**
   * What a frontend must not be served without, as somebody would reach what is closed to them, or be taken by endpoints for the node. All
   * other entries that lack close something, cost masquerading, or hinder only an endpoint that calls itself.
   */
  readonly guards: ReadonlySet<string>;
}

export function ownSets(family: Family): OwnSets {
  const name = (id: SetId) => setName(id, family);
  const named = (...ids: readonly SetId[]) => new Set(ids.map(name));
  const prefix = `KUBE-${family === 'IPv6' ? '6-' : ''}`;
  const keepLocal = named('CLUSTER-IP-NO-LOCAL', 'EXTERNAL-NO-LOCAL');
  return {
    names: SET_DEFINITIONS.map(({ id }) => name(id)),
    standIns: [`${prefix}EXCHANGE`, `${prefix}EXCHANGE-2`],
    exemptions: new Map(EXEMPTIONS.map(([exempting, from]) => [name(exempting), name(from)])),
    closing: named('LOAD-BALANCER-FW'),
    opening: named('LOAD-BALANCER-SOURCE-CIDR', 'LOAD-BALANCER-SOURCE-IP'),
    portals: named('CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL', 'LOAD-BALANCER'),
    keepLocal,
    guards: new Set([name('LOAD-BALANCER-FW'), ...keepLocal, ...EXEMPTIONS.map(([id]) => name(id))]),
  };
}

const EXEMPTIONS: readonly (readonly [SetId, SetId])[] = [
  ['LOAD-BALANCER-LOCAL', 'LOAD-BALANCER'],
  ['NODE-PORT-LOCAL-TCP', 'NODE-PORT-TCP'],
  ['NODE-PORT-LOCAL-UDP', 'NODE-PORT-UDP'],
  ['NODE-PORT-LOCAL-SCTP-HASH', 'NODE-PORT-SCTP-HASH'],
];

export function setComment(id: SetId): string {
  return SET_DEFINITIONS.find((definition) => definition.id === id)?.comment ?? '';
}

function define<const Id extends string>(id: Id, type: SetType, comment: string) {
  return { id, type, comment };
}
