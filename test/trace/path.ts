import type { DummyState } from '../../src/kernel/dummy/state.ts';
import type { IpsetState } from '../../src/kernel/ipset/state.ts';
import type { ReadTables, WantedTables } from '../../src/kernel/iptables/state.ts';
import { type IpvsState, type RealServer, type VirtualServer, virtualServerKey } from '../../src/kernel/ipvs/state.ts';
import type { Family } from '../../src/net/family.ts';
import { familyOf, type IpAddress } from '../../src/net/ip-address.ts';
import { type Port, parsePort } from '../../src/net/port.ts';
import { type RuleSet, ruleSet, type Verdict } from './chains.ts';
import type { MatchContext } from './match.ts';
import { type Listener, type NodeDescription, type Routing, routing } from './node.ts';
import type { Outcome } from './outcome.ts';
import type { ConnectionState, Packet, PacketProtocol } from './packet.ts';
import { setTest } from './sets.ts';

/** Wanted or read; both will do. */
export interface TracedState {
  readonly family: Family;
  readonly ipvs: IpvsState;
  readonly sets: IpsetState;
  readonly dummy: DummyState;
  readonly tables: WantedTables | ReadTables;
}

export interface GivenPacket {
  readonly protocol: PacketProtocol;
  /** May be left out for a process of the node: then the kernel chooses. */
  readonly source?: IpAddress;
  readonly destination: IpAddress;
  /** Left out for ICMP only. */
  readonly port?: number;
  readonly sourcePort?: number;
  readonly state?: ConnectionState;
  /** `process`: it is sent by the node itself. */
  readonly from: 'process' | { readonly interface: string; readonly bridgePort?: string };
}

/** Follows one packet to every outcome that the scheduler can bring about, one for each real server that may be chosen, in their order. */
export type Tracer = (given: GivenPacket) => readonly Outcome[];

/**
 * Follows packets through a node. The way is that of Linux with IPVS in NAT mode and `net.ipv4.vs.conntrack=1`. Throws on a rule that the
 * tracer does not know, and later on whatever else it cannot follow.
 */
export function tracer(state: TracedState, node: NodeDescription): Tracer {
  const { family } = state;
  const routes = routing(node, state.dummy.addresses, family);
  const way: Way = {
    state,
    node,
    routes,
    rules: ruleSet(state.tables, node.builtIn, family),
    context: { inSet: setTest(state.sets, family), isLocal: routes.isLocal },
  };
  return (given) => {
    const packet = firstPacket(given, node, routes, family);
    return given.from === 'process' ? fromProcess(way, packet) : fromInterface(way, packet);
  };
}

interface Way {
  readonly state: TracedState;
  readonly node: NodeDescription;
  readonly routes: Routing;
  readonly rules: RuleSet;
  readonly context: MatchContext;
}

/** A packet with the mark that nat gave the first packet of its connection; later ones do not come to nat and carry none. */
type Travelling = Packet & { readonly firstMark: number };

function fromInterface(way: Way, given: Packet): readonly Outcome[] {
  const packet = marked(way, 'PREROUTING', given);
  if (way.routes.isLocal(packet.destination)) return throughInput(way, packet);
  return stopped(way.rules.run('filter', 'FORWARD', packet, way.context)) ?? [leave(way, packet, given.source)];
}

/** filter INPUT comes before IPVS, so it sees the address that the sender wrote. */
function throughInput(way: Way, packet: Travelling): readonly Outcome[] {
  const stop = stopped(way.rules.run('filter', 'INPUT', packet, way.context));
  if (stop) return stop;
  const server = serverFor(way, packet);
  if (!server) return [atSocket(way, packet, packet.source)];
  return toRealServers(server, packet, (rewritten) => {
    if (way.routes.isLocal(rewritten.destination)) return [arrive(way, 'delivered', rewritten, rewritten.source)];
    return throughOutput(way, rewritten, 'delivered');
  });
}

/** IPVS comes before filter OUTPUT, which sees the address of the real server. */
function fromProcess(way: Way, given: Packet): readonly Outcome[] {
  const packet = marked(way, 'OUTPUT', given);
  const server = serverFor(way, packet);
  if (!server) return throughOutput(way, packet, 'forwarded');
  return toRealServers(server, packet, (rewritten) => throughOutput(way, rewritten, 'delivered'));
}

/** filter OUTPUT is also on the way of what IPVS rewrote for others. */
function throughOutput(way: Way, packet: Travelling, kind: 'delivered' | 'forwarded'): readonly Outcome[] {
  const stop = stopped(way.rules.run('filter', 'OUTPUT', packet, way.context));
  if (stop) return stop;
  if (!way.routes.isLocal(packet.destination)) return [leave(way, packet, packet.source, kind)];
  const looped = { ...packet, source: sourceAfter(way, packet), inputInterface: 'lo' };
  const atInput = stopped(way.rules.run('filter', 'INPUT', looped, way.context));
  if (atInput) return atInput;
  return [
    packet.virtualServer ? arrive(way, 'delivered', looped, packet.source) : atSocket(way, looped, packet.source),
  ];
}

function leave(
  way: Way,
  packet: Travelling,
  sender: IpAddress,
  kind: 'delivered' | 'forwarded' = 'forwarded',
): Outcome {
  const known = way.node.pods.some(({ address }) => address === packet.destination);
  return arrive(way, known ? 'delivered' : kind, { ...packet, source: sourceAfter(way, packet) }, sender);
}

/** nat POSTROUTING decides for the first packet of a connection, and conntrack does the same to all others. */
function sourceAfter({ rules, context, routes }: Way, packet: Travelling): IpAddress {
  const first = { ...packet, inputInterface: undefined, fromBridgePort: false, mark: packet.firstMark };
  const { kind } = rules.run('nat', 'POSTROUTING', first, context);
  return kind === 'masquerade' ? routes.masqueradeTowards(packet.destination) : packet.source;
}

function arrive({ routes }: Way, kind: 'delivered' | 'forwarded', packet: Packet, sender: IpAddress): Outcome {
  const { destination, port, source } = packet;
  const itself = source === destination && !routes.isLocal(destination);
  const passesBack = [source, destination].some(routes.isHere) || routes.isLocal(destination);
  const answered = !itself && (passesBack || kind === 'forwarded');
  return { kind, destination, port, source, masqueraded: source !== sender, answered };
}

/** No virtual server: what listens on the node itself, as on any host. */
function atSocket(way: Way, packet: Packet, sender: IpAddress): Outcome {
  const listens = packet.protocol === 'ICMP' || way.node.listeners.some((listener) => isFor(listener, packet));
  return listens ? arrive(way, 'delivered', packet, sender) : { kind: 'refused', by: 'nobody listening' };
}

function isFor({ protocol, port, address }: Listener, packet: Packet): boolean {
  return protocol === packet.protocol && port === packet.port && (address ?? packet.destination) === packet.destination;
}

function serverFor({ state }: Way, { protocol, destination, port }: Packet): VirtualServer | undefined {
  if (protocol === 'ICMP') return undefined;
  return state.ipvs.get(virtualServerKey({ protocol, address: destination, port: port as Port }));
}

/** Weight 0 takes no new connections and keeps those it has. */
function toRealServers(
  server: VirtualServer,
  packet: Travelling,
  goOn: (rewritten: Travelling) => readonly Outcome[],
): readonly Outcome[] {
  const possible = [...server.realServers.values()].filter(
    ({ weight }) => weight > 0 || packet.state === 'ESTABLISHED',
  );
  if (possible.length === 0) return [{ kind: 'refused', by: 'IPVS' }];
  return possible.flatMap((real) => goOn(rewrite(packet, server, real)));
}

function rewrite(packet: Travelling, virtualServer: VirtualServer, real: RealServer): Travelling {
  if (real.forwarding !== 'masquerade') throw new Error(`the tracer does not know the forwarding ${real.forwarding}`);
  const { address: destination, port } = real;
  return { ...packet, destination, port, virtualServer, inputInterface: undefined, fromBridgePort: false };
}

function marked({ rules, context }: Way, chain: 'PREROUTING' | 'OUTPUT', packet: Packet): Travelling {
  const { kind, mark } = rules.run('nat', chain, packet, context);
  if (kind === 'masquerade') throw new Error(`MASQUERADE cannot stand on the way from ${chain}`);
  return { ...packet, firstMark: mark, mark: packet.state === 'NEW' ? mark : packet.mark };
}

function stopped({ kind, by }: Verdict): readonly Outcome[] | undefined {
  if (kind === 'accept') return undefined;
  return [{ kind: kind === 'drop' ? 'dropped' : 'refused', by }];
}

function firstPacket(given: GivenPacket, node: NodeDescription, routes: Routing, family: Family): Packet {
  const { protocol, destination, port = 0, sourcePort = 40000, state = 'NEW', from } = given;
  const refuse = (why: string): never => {
    throw new Error(`no such packet: ${why}`);
  };
  if ((protocol === 'ICMP') !== (parsePort(port) === undefined)) refuse(`port ${port} of ${protocol}`);
  const source = given.source ?? (from === 'process' ? routes.sourceTowards(destination) : refuse('it has no source'));
  if (familyOf(source) !== family || familyOf(destination) !== family)
    refuse(`${source} to ${destination} in ${family}`);
  if (from !== 'process') {
    if (!node.interfaces.has(from.interface)) refuse(`the node has no interface ${from.interface}`);
    if (routes.isLocal(source)) refuse(`${source} is the node's own and cannot come in by ${from.interface}`);
  } else if (!routes.isLocal(source)) {
    refuse(`${source} is not of the node that sends it`);
  }
  return {
    ...{ protocol, source, sourcePort, destination, port, state, mark: 0, virtualServer: undefined },
    inputInterface: from === 'process' ? undefined : from.interface,
    fromBridgePort: from !== 'process' && from.bridgePort !== undefined,
  };
}
