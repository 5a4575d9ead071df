import type { IpAddress } from '../../../src/net/ip-address.ts';
import type { GivenPacket, TracedState } from '../../trace/path.ts';
import { SENDERS, type Sender } from './ground.ts';

/** A new connection that somebody may open. */
export interface Question {
  readonly name: string;
  readonly packet: GivenPacket;
}

/** Everybody to every frontend that one of the states has, and a stranger to a socket of the node by way of every bound address. */
export function questionsOf(states: readonly TracedState[]): readonly Question[] {
  const [first] = states;
  if (!first) return [];
  const senders = SENDERS[first.family];
  const servers = new Map(states.flatMap(({ ipvs }) => [...ipvs]));
  const bound = new Set(states.flatMap(({ dummy }) => [...dummy.addresses]));
  const stranger = senders.filter(({ name }) => name === 'a stranger');
  return [
    ...[...servers.values()].flatMap(({ protocol, address, port }) =>
      senders.map((sender) => question(sender, { protocol, destination: address, port })),
    ),
    ...[...bound].flatMap((destination) =>
      stranger.map((sender) => question(sender, { protocol: 'TCP', destination, port: HOST_PORT })),
    ),
  ];
}

/** Somebody listens there on the node itself, and no Service has it. */
const HOST_PORT = 22;

type Target = Pick<GivenPacket, 'protocol' | 'port'> & { readonly destination: IpAddress };

function question({ name, ...sender }: Sender, target: Target): Question {
  const { protocol, destination, port } = target;
  return { name: `${name} → ${protocol} ${destination} port ${port}`, packet: { ...sender, ...target } };
}

/** Those whose answers may be others after a line of a script: it names their frontends, or those of none of them. */
export function concerned<Q extends Question>(all: readonly Q[], line: string): readonly Q[] {
  const named = all.filter(({ packet }) => names(line, packet));
  return named.length > 0 ? named : all;
}

/** By the address, or by the number of a node port alone. */
export function names(line: string, { destination, port }: GivenPacket): boolean {
  return line.includes(destination) || line.endsWith(` ${port}`);
}
