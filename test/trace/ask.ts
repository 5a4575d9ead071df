import { type VirtualServer, virtualServerKey } from '../../src/kernel/ipvs/state.ts';
import type { Family } from '../../src/net/family.ts';
import type { Protocol } from '../../src/net/protocol.ts';
import { port } from '../builders/net.ts';
import type { NodeDescription } from './node.ts';
import type { Outcome } from './outcome.ts';
import { type GivenPacket, type TracedState, type Tracer, tracer } from './path.ts';
import { addressOf, describeNode, homeOf, type NodeName, nameOf } from './place.ts';

/** What each node holds of one family, with the tracers that follow packets through it. */
export interface Asked {
  readonly family: Family;
  readonly stateOf: (node: NodeName) => TracedState;
  readonly tracerOf: (node: NodeName) => Tracer;
}

export function askedOf(
  family: Family,
  stateOf: (node: NodeName) => TracedState,
  describe: (node: NodeName) => NodeDescription = describeNode,
): Asked {
  const known = new Map<NodeName, Tracer>();
  const tracerOf = (node: NodeName) => {
    const follow = known.get(node) ?? tracer(stateOf(node), describe(node));
    known.set(node, follow);
    return follow;
  };
  return { family, stateOf, tracerOf };
}

/**
 * Sends one packet and says what may become of it, e.g. `a2 → cluster:80` gives `a1 sees a2 | b1 sees node-a`. Forms:
 * `FROM → TO:PORT[/udp|/sctp][ established][ at NODE]` and `FROM → TO ping[ at NODE]`; names are those of place.ts. Without `at`, a packet
 * to a node is looked at there, else on the node that its sender is on; what clients send to other addresses comes by node-a.
 *
 * `X sees Y`: delivered to X, who sees Y as the sender; `in vain` when no answer comes back. A port other than 8080 is told.
 */
export function ask(text: string, { family, tracerOf }: Asked): string {
  const { node, packet } = parseAsk(text, family);
  const outcomes = tracerOf(node)(packet).map(describeOutcome);
  return [...new Set(outcomes)].sort().join(' | ');
}

/** `600 s` for how long a client stays with its server at `FRONTEND[ at NODE]`, or `none`, or that there is no such virtual server. */
export function stickiness(text: string, { family, stateOf }: Asked): string {
  const { node, packet } = parseAsk(`client → ${text}`, family);
  const { protocol, destination, port: number = 0 } = packet;
  const key = virtualServerKey({ protocol: protocol as Protocol, address: destination, port: port(number) });
  const server: VirtualServer | undefined = stateOf(node).ipvs.get(key);
  if (!server) return 'no virtual server';
  return server.persistenceSeconds === 0 ? 'none' : `${server.persistenceSeconds} s`;
}

const FORM = /^(\S+) → (\S+?)(?: ping|:(\d+)(?:\/(tcp|udp|sctp))?( established)?)(?: at (\S+))?$/;

export interface ParsedAsk {
  readonly from: string;
  readonly node: NodeName;
  readonly packet: GivenPacket;
}

export function parseAsk(text: string, family: Family): ParsedAsk {
  const [, from = '', to = '', number, protocol = 'tcp', established, at] = FORM.exec(text) ?? [];
  const node = homeOf(at ?? (homeOf(to) === to ? to : from)) ?? 'node-a';
  if (from === '') throw new Error(`a test asks ${text}, which has no form that is known`);
  const destination = addressOf(to, family);
  const what = {
    ...(number === undefined
      ? { protocol: 'ICMP' as const }
      : { protocol: protocol.toUpperCase() as Protocol, port: Number(number) }),
    ...(established ? { state: 'ESTABLISHED' as const } : {}),
    destination,
  };
  if (from === node) return { from, node, packet: { ...what, from: 'process' } };
  const enters = homeOf(from) === node ? from : 'eth0';
  return { from, node, packet: { ...what, source: addressOf(from, family), from: { interface: enters } } };
}

function describeOutcome(outcome: Outcome): string {
  if ('by' in outcome) return `${outcome.kind} by ${outcome.by}`;
  const { kind, destination, port: number, source, answered } = outcome;
  const who = `${nameOf(destination)}${number === 8080 || number === 0 ? '' : `:${number}`}`;
  if (kind === 'forwarded') return `passed on to ${who} as ${nameOf(source)}`;
  return `${who} sees ${nameOf(source)}${answered ? '' : ' in vain'}`;
}
