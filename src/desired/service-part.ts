import { addressEntry, addressPortEntry, addressPortSourceEntry, portEntry } from '../kernel/ipset/state.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { Problem } from '../model/problem.ts';
import type { ServicePort } from '../model/service-port.ts';
import { cidrContains } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { type ChosenEndpoints, chooseEndpoints } from '../topology/choose-endpoints.ts';
import { type Frontend, frontends, type PartEntry } from './frontends.ts';
import { startAnywhere } from './insertion-order.ts';
import type { NodeInputs } from './node-inputs.ts';
import { realServersFor } from './real-servers.ts';
import { schedulerFlags } from './scheduler-flags.ts';
import type { ProxySettings } from './settings.ts';

/** What one service port adds to the wanted state of its family. */
export interface ServicePart {
  readonly port: ServicePort;
  readonly endpoints: readonly Endpoint[];
  readonly fronts: readonly FrontPart[];
  /** Entries that belong to no frontend. */
  readonly entries: readonly PartEntry[];
  /** Policies under which the port has usable endpoints in the cluster, but none on this node. */
  readonly withoutLocal: readonly ('internal' | 'external')[];
  /** Addresses that cannot be served on this node. */
  readonly problems: readonly Problem[];
}

/** What one frontend adds; nothing of it counts where the frontend belongs to another service port. */
export interface FrontPart {
  readonly kind: Frontend['kind'];
  readonly server: VirtualServer;
  readonly entries: readonly PartEntry[];
  /** The address has to be bound to the dummy interface. */
  readonly bind: boolean;
  /** The node itself may not use it. */
  readonly closedToNode: boolean;
}

/** Never fails: a service port that can be partly served is partly served. */
export function servicePart(
  port: ServicePort,
  endpoints: readonly Endpoint[],
  node: NodeInputs,
  settings: ProxySettings,
): ServicePart {
  const chosen = chooseEndpoints(endpoints, port, node.place);
  const isDocumented = settings.behaviour === 'documented';
  const restricted = isRestricted(port, settings);
  const seed = isDocumented ? `${node.place.name} ${port.key}` : undefined;
  return {
    port,
    endpoints,
    fronts: frontends(port, node).map((front): FrontPart => {
      const isGuarded = restricted && front.kind === 'load-balancer';
      return {
        kind: front.kind,
        server: virtualServer(front, port, { all: endpoints, chosen, seed }, settings),
        entries: [
          ...front.entries,
          ...(isGuarded ? sourceRangeEntries(front.address, port, node) : []),
          ...(isDocumented ? documentedEntries(front, port, chosen) : []),
        ],
        bind: front.bind,
        closedToNode: isGuarded && !nodeIsInRanges(port, node),
      };
    }),
    entries: orNothing([
      ...endpoints.filter(({ local }) => local).map((endpoint) => loopBackEntry(endpoint, port)),
      ...healthCheckEntries(port, node, settings),
    ]),
    withoutLocal: orNothing(policiesWithoutLocal(port, chosen)),
    problems: orNothing(addressesOfOtherNodes(port, node)),
  };
}

/** Empty lists are all the same one, as there is one of nearly each kind in every part. */
function orNothing<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NOTHING : list;
}

const NOTHING: readonly never[] = [];

/** kube-proxy looks at the ranges of the family alone. */
function isRestricted(port: ServicePort, { behaviour }: ProxySettings): boolean {
  return port.loadBalancerSourceRanges.length > 0 || (behaviour === 'documented' && port.restrictedElsewhere);
}

function virtualServer(
  front: Frontend,
  port: ServicePort,
  endpoints: { readonly all: readonly Endpoint[]; readonly chosen: ChosenEndpoints; readonly seed: string | undefined },
  settings: ProxySettings,
): VirtualServer {
  const { all, chosen, seed } = endpoints;
  const sorted = realServersFor(front, chosen, all, settings);
  return {
    protocol: port.protocol,
    address: front.address,
    port: front.port,
    scheduler: settings.scheduler,
    schedulerFlags: schedulerFlags(settings.scheduler, settings.schedulerFlags),
    persistenceSeconds: port.affinitySeconds,
    realServers: seed === undefined ? sorted : startAnywhere(sorted, seed),
  };
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

/** For rules that kube-proxy does not have. Where no endpoint is usable at all, the kernel refuses, and nothing needs to be dropped. */
function documentedEntries(
  { kind, address, port: number, policyLocal, withoutLocal }: Frontend,
  port: ServicePort,
  chosen: ChosenEndpoints,
): readonly PartEntry[] {
  const lacksLocal = policyLocal && chosen.hasAny && (chosen.local ?? []).length === 0;
  return [
    ...(kind === 'node-port' ? [['NODE-PORT-IP', addressEntry(address)] as const] : []),
    ...(lacksLocal ? [[withoutLocal, addressPortEntry(address, port.protocol, number)] as const] : []),
  ];
}

/** In kube-proxy a node port that has no address to be served on takes the health check port with it. */
function healthCheckEntries(port: ServicePort, node: NodeInputs, { behaviour }: ProxySettings): readonly PartEntry[] {
  const skipped = behaviour === 'kube-proxy' && port.nodePort !== undefined && node.nodePortAddresses.length === 0;
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

/** Binding such an address would cut this node off from that one. */
function addressesOfOtherNodes(port: ServicePort, { otherNodeAddresses }: NodeInputs): readonly Problem[] {
  const problem = (field: string) => (address: IpAddress) => ({
    object: `Service ${port.service}`,
    service: port.service,
    field,
    message: `${address} belongs to another node; it is served on that node only`,
  });
  const foreign = (addresses: readonly IpAddress[]) => addresses.filter((address) => otherNodeAddresses.has(address));
  return [
    ...foreign(port.externalIPs).map(problem('spec.externalIPs')),
    ...foreign(port.loadBalancerVIPs).map(problem('status.loadBalancer.ingress')),
  ];
}
