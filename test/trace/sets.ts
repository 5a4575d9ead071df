import type { IpSet, IpsetState } from '../../src/kernel/ipset/state.ts';
import { type Cidr, cidrContains, parseCidr } from '../../src/net/cidr.ts';
import type { Family } from '../../src/net/family.ts';
import { familyOf, type IpAddress, parseIpAddress } from '../../src/net/ip-address.ts';
import type { Packet } from './packet.ts';

/** Whether a set holds what a packet carries; `directions` as in a rule, e.g. `dst,dst,src`. */
export type SetTest = (name: string, directions: string, packet: Packet) => boolean;

/**
 * Looks into the sets of one family. Throws on a set that is not there, is of a type, family or with parameters that the tracer does not
 * follow, on an entry that does not fit its type, and on directions that are not as many as the type has.
 */
export function setTest(sets: IpsetState, family: Family): SetTest {
  const known = new Map<string, (directions: readonly Direction[], packet: Packet) => boolean>();
  return (name, directions, packet) => {
    const test = known.get(name) ?? contentTest(sets.get(name), name, family);
    known.set(name, test);
    return test(readDirections(directions), packet);
  };
}

type Direction = 'src' | 'dst';

function readDirections(text: string): readonly Direction[] {
  return text.split(',').map((word) => {
    if (word !== 'src' && word !== 'dst') throw new Error(`the tracer does not know the directions ${text}`);
    return word;
  });
}

function contentTest(set: IpSet | undefined, name: string, family: Family) {
  if (!set) throw new Error(`a rule names the set ${name}, which is not there`);
  if (set.oddities.length > 0)
    throw new Error(`the tracer does not know ${set.oddities.join(', ')} of the set ${name}`);
  if (set.family !== undefined && set.family !== family) throw new Error(`the set ${name} is of ${set.family}`);
  const { dimensions, holds } = contentOf(set, family);
  return (directions: readonly Direction[], packet: Packet) => {
    if (directions.length !== dimensions) throw new Error(`${set.type} ${name} is asked for ${directions.join(',')}`);
    return holds(directions, packet);
  };
}

interface Content {
  readonly dimensions: number;
  readonly holds: (directions: readonly Direction[], packet: Packet) => boolean;
}

function contentOf(set: IpSet, family: Family): Content {
  const entries = [...set.entries].map((entry) => entry.split(','));
  const odd = entries.find((entry) => !fits(set.type, entry, family));
  if (odd) throw new Error(`the tracer does not know ${odd.join(',')} in ${set.name} of type ${set.type}`);
  const keys = new Set<string>(set.entries);
  switch (set.type) {
    case 'hash:ip':
      return { dimensions: 1, holds: ([first], packet) => keys.has(addressOf(packet, first)) };
    case 'bitmap:port':
      return {
        dimensions: 1,
        holds: ([first], packet) => hasPlainPort(packet) && keys.has(`${portOf(packet, first)}`),
      };
    case 'hash:ip,port':
      return { dimensions: 2, holds: (directions, packet) => keys.has(addressPort(packet, directions)) };
    case 'hash:ip,port,ip':
      return {
        dimensions: 3,
        holds: (directions, packet) =>
          keys.has(`${addressPort(packet, directions)},${addressOf(packet, directions[2])}`),
      };
    case 'hash:ip,port,net':
      return networkContent(entries);
    default:
      throw new Error(`the tracer does not know the type ${set.type} of the set ${set.name}`);
  }
}

function networkContent(entries: readonly (readonly string[])[]): Content {
  const networks = new Map<string, Cidr[]>();
  for (const [address, port, network = ''] of entries) {
    const key = `${address},${port}`;
    networks.set(key, [...(networks.get(key) ?? []), networkOf(network) as Cidr]);
  }
  return {
    dimensions: 3,
    holds: (directions, packet) =>
      (networks.get(addressPort(packet, directions)) ?? []).some((network) =>
        cidrContains(network, addressOf(packet, directions[2])),
      ),
  };
}

function fits(type: string, entry: readonly string[], family: Family): boolean {
  const elements = type.slice(type.indexOf(':') + 1).split(',');
  const isAddress = (text: string) => parseIpAddress(text) === text && familyOf(text as IpAddress) === family;
  const isPort = (text: string) => (type === 'bitmap:port' ? /^\d{1,5}$/ : /^(tcp|udp|sctp):\d{1,5}$/).test(text);
  const tests: Readonly<Record<string, (text: string) => boolean>> = {
    ip: isAddress,
    port: isPort,
    net: (text) => networkOf(text) !== undefined,
  };
  return entry.length === elements.length && entry.every((text, index) => tests[elements[index] ?? '']?.(text));
}

/** ipset prints a network of one host without a length. */
function networkOf(text: string): Cidr | undefined {
  if (text.includes('/')) return parseCidr(text) === text ? (text as Cidr) : undefined;
  return parseCidr(`${text}/${text.includes(':') ? 128 : 32}`);
}

/** The kernel looks for TCP and UDP ports in a bitmap, for nothing else. */
function hasPlainPort({ protocol }: Packet): boolean {
  return protocol === 'TCP' || protocol === 'UDP';
}

function addressPort(packet: Packet, [first, second]: readonly Direction[]): string {
  return `${addressOf(packet, first)},${packet.protocol.toLowerCase()}:${portOf(packet, second)}`;
}

function addressOf({ source, destination }: Packet, direction: Direction | undefined): IpAddress {
  return direction === 'src' ? source : destination;
}

function portOf({ sourcePort, port }: Packet, direction: Direction | undefined): number {
  return direction === 'src' ? sourcePort : port;
}
