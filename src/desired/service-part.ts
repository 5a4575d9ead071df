import { addressPortEntry, addressPortSourceEntry, portEntry } from '../kernel/ipset/state.ts';
import { type RealServer, type RealServerKey, realServerKey, type VirtualServer } from '../kernel/ipvs/state.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { ServicePort } from '../model/service-port.ts';
import { cidrContains } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { type ChosenEndpoints, chooseEndpoints } from '../topology/choose-endpoints.ts';
import { type Frontend, frontends, type PartEntry } from './frontends.ts';
import type { NodeInputs } from './node-inputs.ts';
import { schedulerFlags } from './scheduler-flags.ts';

/** What one service port adds to the wanted state of its family. */
export interface ServicePart {
  readonly port: ServicePort;
  readonly endpoints: readonly Endpoint[];
  readonly servers: readonly VirtualServer[];
  readonly entries: readonly PartEntry[];
  /** Addresses for the dummy interface. */
  readonly bound: readonly IpAddress[];
  /** Load-balancer addresses that the node itself may not use. */
  readonly closedToNode: readonly IpAddress[];
  /** Policies under which the port has usable endpoints in the cluster, but none on this node. */
  readonly withoutLocal: readonly ('internal' | 'external')[];
}

/** Never fails: a service port that can be partly served is partly served. */
export function servicePart(
  port: ServicePort,
  endpoints: readonly Endpoint[],
  node: NodeInputs,
  scheduler: string,
): ServicePart {
  const chosen = chooseEndpoints(endpoints, port, node.place);
  const fronts = frontends(port, node);
  const ranges = port.loadBalancerSourceRanges.length > 0 ? fronts.filter(isLoadBalancer) : [];
  const closedToNode = ranges.filter(() => !nodeIsInRanges(port, node)).map(({ address }) => address);
  return {
    port,
    endpoints,
    servers: fronts.map((front) => virtualServer(front, port, realServersFor(front, chosen), scheduler)),
    entries: [
      ...endpoints.filter(({ local }) => local).map((endpoint) => loopBackEntry(endpoint, port)),
      ...fronts.flatMap(({ entries }) => entries),
      ...ranges.flatMap(({ address }) => sourceRangeEntries(address, port, node)),
      ...healthCheckEntries(port, node),
    ],
    bound: fronts.filter(({ bind }) => bind).map(({ address }) => address),
    closedToNode,
    withoutLocal: policiesWithoutLocal(port, chosen),
  };
}

function isLoadBalancer(front: Frontend): boolean {
  return front.kind === 'load-balancer';
}

/** Under policy Local without a usable local endpoint all cluster endpoints stand in, if the port has any such list. */
function realServersFor(front: Frontend, chosen: ChosenEndpoints): readonly Endpoint[] {
  const local = front.policyLocal ? (chosen.local ?? []) : [];
  return local.length > 0 ? local : (chosen.cluster ?? []);
}

function virtualServer(
  front: Frontend,
  port: ServicePort,
  endpoints: readonly Endpoint[],
  scheduler: string,
): VirtualServer {
  return {
    protocol: port.protocol,
    address: front.address,
    port: front.port,
    scheduler,
    schedulerFlags: schedulerFlags(scheduler),
    persistenceSeconds: port.affinitySeconds,
    realServers: new Map(endpoints.map(realServer)),
  };
}

function realServer({ address, port }: Endpoint): [RealServerKey, RealServer] {
  return [realServerKey({ address, port }), { address, port, forwarding: 'masquerade', weight: 1, connections: 0 }];
}

function loopBackEntry({ address, port }: Endpoint, { protocol }: ServicePort): PartEntry {
  return ['LOOP-BACK', addressPortSourceEntry(address, protocol, port, address)];
}

/** A node inside the ranges reaches the address with the address itself as source. */
function sourceRangeEntries(address: IpAddress, port: ServicePort, node: NodeInputs): readonly PartEntry[] {
  const entry = (source: Parameters<typeof addressPortSourceEntry>[3]) =>
    addressPortSourceEntry(address, port.protocol, port.port, source);
  return [
    ['LOAD-BALANCER-FW', addressPortEntry(address, port.protocol, port.port)],
    ...port.loadBalancerSourceRanges.map((range): PartEntry => ['LOAD-BALANCER-SOURCE-CIDR', entry(range)]),
    ...(nodeIsInRanges(port, node) ? [['LOAD-BALANCER-SOURCE-IP', entry(address)] as const] : []),
  ];
}

function nodeIsInRanges(port: ServicePort, { primaryAddress }: NodeInputs): boolean {
  return (
    primaryAddress !== undefined && port.loadBalancerSourceRanges.some((range) => cidrContains(range, primaryAddress))
  );
}

/** A node port that has no address to be served on takes the health check port with it. */
function healthCheckEntries(port: ServicePort, node: NodeInputs): readonly PartEntry[] {
  const skipped = port.nodePort !== undefined && node.nodePortAddresses.length === 0;
  if (port.healthCheckNodePort === undefined || skipped) return [];
  return [['HEALTH-CHECK-NODE-PORT', portEntry(port.healthCheckNodePort)]];
}

function policiesWithoutLocal(port: ServicePort, chosen: ChosenEndpoints): readonly ('internal' | 'external')[] {
  if (!chosen.hasAny || chosen.local === undefined || chosen.local.length > 0) return [];
  return [
    ...(port.internalPolicyLocal ? (['internal'] as const) : []),
    ...(port.externalPolicyLocal ? (['external'] as const) : []),
  ];
}
