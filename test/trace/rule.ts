import { type Cidr, cidrFamily, parseCidr } from '../../src/net/cidr.ts';
import type { Family } from '../../src/net/family.ts';
import { familyOf, type IpAddress, parseIpAddress } from '../../src/net/ip-address.ts';
import { PROTOCOLS, type Protocol, protocolNumber } from '../../src/net/protocol.ts';
import type { PacketProtocol } from './packet.ts';
import { Words } from './words.ts';

/** One condition that a packet is held against. */
export type Match =
  | { readonly kind: 'source' | 'destination'; readonly network: Cidr; readonly negated: boolean }
  | { readonly kind: 'input-interface'; readonly name: string; readonly negated: boolean }
  | { readonly kind: 'protocol'; readonly protocol: PacketProtocol; readonly negated: boolean }
  | { readonly kind: 'destination-port'; readonly port: number; readonly negated: boolean }
  | { readonly kind: 'echo-request' }
  | { readonly kind: 'set'; readonly name: string; readonly directions: string; readonly negated: boolean }
  | { readonly kind: 'from-bridge-port'; readonly negated: boolean }
  | { readonly kind: 'local'; readonly side: 'source' | 'destination'; readonly negated: boolean }
  | { readonly kind: 'mark'; readonly value: number; readonly mask: number; readonly negated: boolean }
  | { readonly kind: 'state'; readonly states: readonly string[]; readonly negated: boolean }
  | { readonly kind: 'ipvs'; readonly address: IpAddress; readonly protocol: Protocol; readonly port: number };

export type Target =
  | { readonly kind: 'accept' | 'drop' | 'return' | 'reject' | 'masquerade' }
  | { readonly kind: 'jump'; readonly chain: string }
  | { readonly kind: 'set-mark'; readonly value: number; readonly mask: number };

export interface Rule {
  readonly matches: readonly Match[];
  readonly target: Target;
}

/** Reads a rule as `ip[6]tables-save` prints it, without its chain; comments are passed over. Throws on every other form. */
export function parseRule(text: string, family: Family): Rule {
  const words = new Words(text);
  const matches: Match[] = [];
  while (!words.takeIf('-j')) matches.push(...readMatches(words, family, matches));
  const target = readTarget(words, family, matches);
  if (words.peek() !== undefined) words.refuse(`"${words.peek()}" behind the target`);
  return { matches, target };
}

function readMatches(words: Words, family: Family, before: readonly Match[]): readonly Match[] {
  const negated = words.takeIf('!');
  const option = words.take();
  switch (option) {
    case '-s':
      return [{ kind: 'source', network: readNetwork(words, family), negated }];
    case '-d':
      return [{ kind: 'destination', network: readNetwork(words, family), negated }];
    case '-i':
      return [{ kind: 'input-interface', name: words.take(), negated }];
    case '-p':
      return [{ kind: 'protocol', protocol: readProtocol(words, family), negated }];
    case '-m':
      return negated ? words.refuse('! -m') : readModule(words, family, before);
    default:
      return words.refuse(`the option ${option}`);
  }
}

/** What belongs to one `-m NAME`: one condition, of `addrtype` one or two. */
function readModule(words: Words, family: Family, before: readonly Match[]): readonly Match[] {
  const name = words.take();
  const negated = name !== 'comment' && words.takeIf('!');
  const option = words.take();
  switch (`${name} ${option}`) {
    case 'comment --comment':
      words.take();
      return [];
    case 'set --match-set':
      return [{ kind: 'set', name: words.take(), directions: words.take(), negated }];
    case 'physdev --physdev-is-in':
      return [{ kind: 'from-bridge-port', negated }];
    case 'addrtype --src-type':
    case 'addrtype --dst-type':
      return readLocal(words, option, negated);
    case 'mark --mark':
      return [{ kind: 'mark', ...readMark(words), negated }];
    case 'conntrack --ctstate': {
      const state: Match = { kind: 'state', states: readStates(words), negated };
      if (!words.takeIf('--ctorigdstport')) return [state];
      return [state, { kind: 'destination-port', port: readNumber(words, 65535), negated: false }];
    }
    case 'ipvs --vproto':
      return negated ? words.refuse('a negated ipvs match') : [readVirtualServer(words, family)];
    case 'icmp --icmp-type':
    case 'icmp6 --icmpv6-type':
      return negated ? words.refuse('a negated ICMP type') : [readEcho(words, name, family, before)];
    case 'tcp --dport':
    case 'udp --dport':
    case 'sctp --dport':
      requireProtocol(words, name.toUpperCase(), before);
      return [{ kind: 'destination-port', port: readNumber(words, 65535), negated }];
    default:
      return words.refuse(`the match ${name} ${option}`);
  }
}

function readLocal(words: Words, option: string, negated: boolean): readonly Match[] {
  words.expect('LOCAL');
  const first: Match = { kind: 'local', side: option === '--src-type' ? 'source' : 'destination', negated };
  const second = words.peek() === '!' ? 1 : 0;
  if (option !== '--src-type' || words.peek(second) !== '--dst-type') return [first];
  const secondNegated = words.takeIf('!');
  words.expect('--dst-type');
  words.expect('LOCAL');
  return [first, { kind: 'local', side: 'destination', negated: secondNegated }];
}

function readVirtualServer(words: Words, family: Family): Match {
  const number = readNumber(words, 255);
  const protocol = PROTOCOLS.find((candidate) => protocolNumber(candidate) === number);
  if (protocol === undefined) return words.refuse(`--vproto ${number}`);
  words.expect('--vaddr');
  const address = parseIpAddress(words.peek() ?? '');
  if (address === undefined || familyOf(address) !== family) return words.refuse(`--vaddr ${words.peek()}`);
  words.take();
  words.expect('--vport');
  return { kind: 'ipvs', protocol, address, port: readNumber(words, 65535) };
}

function readEcho(words: Words, module: string, family: Family, before: readonly Match[]): Match {
  if (module !== (family === 'IPv4' ? 'icmp' : 'icmp6')) return words.refuse(`${module} in ${family}`);
  requireProtocol(words, 'ICMP', before);
  words.expect(family === 'IPv4' ? '8' : '128');
  return { kind: 'echo-request' };
}

/** The kernel takes these modules only behind the `-p` that they are made for. */
function requireProtocol(words: Words, protocol: string, before: readonly Match[]): void {
  const given = before.some((match) => match.kind === 'protocol' && match.protocol === protocol && !match.negated);
  if (!given) words.refuse(`a match of ${protocol} without its -p`);
}

function readTarget(words: Words, family: Family, matches: readonly Match[]): Target {
  const name = words.take();
  switch (name) {
    case 'ACCEPT':
      return { kind: 'accept' };
    case 'DROP':
      return { kind: 'drop' };
    case 'RETURN':
      return { kind: 'return' };
    case 'REJECT':
      words.expect('--reject-with');
      if (words.takeIf('tcp-reset')) requireProtocol(words, 'TCP', matches);
      else words.expect(family === 'IPv4' ? 'icmp-port-unreachable' : 'icmp6-port-unreachable');
      return { kind: 'reject' };
    case 'MASQUERADE':
      words.takeIf('--random-fully');
      return { kind: 'masquerade' };
    case 'MARK':
      words.expect('--set-xmark');
      return { kind: 'set-mark', ...readMark(words) };
    default:
      return { kind: 'jump', chain: name };
  }
}

function readNetwork(words: Words, family: Family): Cidr {
  const text = words.take();
  const network = parseCidr(text);
  return network !== undefined && network === text && cidrFamily(network) === family
    ? network
    : words.refuse(`the network ${text}`);
}

function readProtocol(words: Words, family: Family): PacketProtocol {
  const text = words.take();
  if (text === (family === 'IPv4' ? 'icmp' : 'ipv6-icmp')) return 'ICMP';
  return PROTOCOLS.find((protocol) => protocol.toLowerCase() === text) ?? words.refuse(`the protocol ${text}`);
}

/** `0xVALUE/0xMASK` */
function readMark(words: Words): { readonly value: number; readonly mask: number } {
  const text = words.take();
  const [, value, mask] = /^(0x[0-9a-f]{1,8})\/(0x[0-9a-f]{1,8})$/.exec(text) ?? [];
  return value === undefined || mask === undefined
    ? words.refuse(`the mark ${text}`)
    : { value: Number(value), mask: Number(mask) };
}

function readStates(words: Words): readonly string[] {
  const states = words.take().split(',');
  return states.every((state) => STATES.includes(state)) ? states : words.refuse(`the states ${states}`);
}

const STATES = ['NEW', 'ESTABLISHED', 'RELATED', 'INVALID'];

function readNumber(words: Words, highest: number): number {
  const text = words.take();
  return /^\d{1,5}$/.test(text) && Number(text) <= highest ? Number(text) : words.refuse(`the number ${text}`);
}
