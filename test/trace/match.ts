import { assertNever } from '../../src/model/assert-never.ts';
import { cidrContains } from '../../src/net/cidr.ts';
import type { IpAddress } from '../../src/net/ip-address.ts';
import type { Packet } from './packet.ts';
import type { Match } from './rule.ts';
import type { SetTest } from './sets.ts';

/** What rules ask besides the packet. */
export interface MatchContext {
  readonly inSet: SetTest;
  /** True for every address that the node answers to, those of the dummy interface among them. */
  readonly isLocal: (address: IpAddress) => boolean;
}

export function matches(match: Match, packet: Packet, context: MatchContext): boolean {
  const holds = holdsPlain(match, packet, context);
  return 'negated' in match && match.negated ? !holds : holds;
}

function holdsPlain(match: Match, packet: Packet, { inSet, isLocal }: MatchContext): boolean {
  switch (match.kind) {
    case 'source':
      return cidrContains(match.network, packet.source);
    case 'destination':
      return cidrContains(match.network, packet.destination);
    case 'input-interface':
      return isInterface(match.name, packet.inputInterface);
    case 'protocol':
      return packet.protocol === match.protocol;
    case 'destination-port':
      return packet.port === match.port;
    case 'echo-request':
      return packet.protocol === 'ICMP';
    case 'set':
      return inSet(match.name, match.directions, packet);
    case 'from-bridge-port':
      return packet.fromBridgePort;
    case 'local':
      return isLocal(match.side === 'source' ? packet.source : packet.destination);
    case 'mark':
      return (packet.mark & match.mask) >>> 0 === match.value;
    case 'state':
      return match.states.includes(packet.state);
    case 'ipvs':
      return isOfServer(match, packet);
    default:
      return assertNever(match);
  }
}

/** `veth+` stands for every name that begins so. A packet on its way out has no input interface and matches none. */
function isInterface(pattern: string, name: string | undefined): boolean {
  if (name === undefined) return false;
  return pattern.endsWith('+') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function isOfServer(match: Match & { readonly kind: 'ipvs' }, { virtualServer }: Packet): boolean {
  const { protocol, address, port } = match;
  return virtualServer?.protocol === protocol && virtualServer.address === address && virtualServer.port === port;
}
