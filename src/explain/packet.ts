import { filterChains } from '../desired/filter-rules.ts';
import { natChains } from '../desired/nat-rules.ts';
import type { RuleInputs } from '../desired/rule-inputs.ts';
import { addressEntry, addressPortEntry, type IpSet, type IpsetState, portEntry } from '../kernel/ipset/state.ts';
import type { Match, Rule } from '../kernel/iptables/rule.ts';
import type { TableName } from '../kernel/iptables/state.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import { assertNever } from '../model/assert-never.ts';
import { cidrContains, parseCidr } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Client } from './client.ts';

/** The way of the first packet of a connection. */
export interface PacketWay {
  /** Rules that it meets, in their order; those without a set that end a chain, and chains that do nothing to it, are not told. */
  readonly met: readonly MetRule[];
  /** What becomes of it: it comes to an endpoint, a rule drops it, or there is no endpoint and the kernel refuses it. */
  readonly outcome: 'answered' | 'dropped' | 'rejected' | 'refused';
  /** The endpoint sees the node as its client. */
  readonly masqueraded: boolean;
}

export interface MetRule {
  readonly table: TableName;
  readonly chain: string;
  /** The set that it is about, if any. */
  readonly set: string | undefined;
  /** What it does: a target, or the chain it leads to. */
  readonly target: string;
}

/** The rules and sets of one family. */
export interface RulesAndSets {
  readonly rules: RuleInputs;
  readonly sets: IpsetState;
}

/** Follows a packet through the rules themselves, as the kernel does. A packet that an endpoint sends to its own Service is masqueraded besides. */
export function followPacket(client: Client, front: VirtualServer, { rules, sets }: RulesAndSets): PacketWay {
  const traveller: Traveller = { client, front, sets, met: [], marked: false, masqueraded: false };
  const nat = new Map(natChains(rules));
  const filter = new Map(filterChains(rules));
  const way = (outcome: PacketWay['outcome']): PacketWay => {
    const { met, masqueraded } = traveller;
    return { met, outcome, masqueraded: outcome === 'answered' && masqueraded };
  };
  walk('nat', nat, 'KUBE-SERVICES', traveller);
  const hasEndpoint = front.realServers.some(({ weight }) => weight > 0);
  if (client.isNode && !hasEndpoint) return way('refused');
  for (const chain of client.isNode ? ['KUBE-IPVS-OUT-FILTER'] : ['KUBE-IPVS-FILTER', 'KUBE-PROXY-FIREWALL']) {
    const verdict = walk('filter', filter, chain, traveller);
    if (verdict === 'drop') return way('dropped');
    if (verdict === 'reject') return way('rejected');
  }
  if (!hasEndpoint) return way('refused');
  walk('nat', nat, 'KUBE-POSTROUTING', traveller);
  return way('answered');
}

interface Traveller {
  readonly client: Client;
  readonly front: VirtualServer;
  readonly sets: IpsetState;
  readonly met: MetRule[];
  marked: boolean;
  masqueraded: boolean;
}

type Chains = ReadonlyMap<string, readonly Rule[]>;

function walk(
  table: TableName,
  chains: Chains,
  chain: string,
  traveller: Traveller,
): 'accept' | 'drop' | 'reject' | 'return' {
  for (const { matches, target } of chains.get(chain) ?? []) {
    if (!matches.every((match) => isMet(match, traveller))) continue;
    const set = matches.flatMap((match) => (match.kind === 'set' ? [match.name] : []))[0];
    const tell = (text: string) => traveller.met.push({ table, chain, set, target: text });
    switch (target.kind) {
      case 'return':
        if (set !== undefined) tell('RETURN');
        return 'return';
      case 'jump': {
        const [told, marked] = [traveller.met.length, traveller.marked];
        tell(target.chain);
        const verdict = walk(table, chains, target.chain, traveller);
        if (verdict !== 'return') return verdict;
        const isDeadEnd = traveller.met.length === told + 1 && traveller.marked === marked;
        if (isDeadEnd) traveller.met.pop();
        break;
      }
      case 'set-mark':
        traveller.marked = true;
        break;
      case 'clear-mark':
        traveller.marked = false;
        break;
      case 'masquerade':
        tell('MASQUERADE');
        traveller.masqueraded = true;
        return 'accept';
      case 'reset':
        tell('REJECT');
        return 'reject';
      case 'accept':
      case 'drop':
      case 'reject':
        tell(target.kind.toUpperCase());
        return target.kind;
      default:
        return assertNever(target);
    }
  }
  return 'return';
}

function isMet(match: Match, { client, front, sets, marked }: Traveller): boolean {
  const negated = 'negated' in match && match.negated;
  switch (match.kind) {
    case 'source':
      return isFrom(match.of, client.source) !== negated;
    case 'input-interface':
      return client.isOwnPod !== negated;
    case 'protocol':
      return match.protocol === front.protocol;
    case 'set':
      return isInSet(match, sets.get(match.name), client.source, front);
    case 'source-local':
      return client.isNode !== negated;
    case 'mark':
      return marked !== negated;
    case 'state':
      return match.states.includes('NEW');
    case 'destination':
      return match.of === front.address;
    case 'new-to-port':
      return match.port === front.port;
    case 'ipvs':
      return match.address === front.address && match.protocol === front.protocol && match.port === front.port;
    case 'echo-request':
      return false;
    case 'comment':
    case 'not-from-bridge':
    case 'destination-local':
      return true;
    default:
      return assertNever(match);
  }
}

function isFrom(range: string, source: IpAddress): boolean {
  const cidr = parseCidr(range);
  return cidr === undefined ? range === source : cidrContains(cidr, source);
}

/** An endpoint that dials its own Service is the only one whose source is in a set with its own address twice. */
function isInSet(
  { directions }: Extract<Match, { kind: 'set' }>,
  set: IpSet | undefined,
  source: IpAddress,
  { address, port, protocol }: VirtualServer,
): boolean {
  if (!set) return false;
  switch (directions) {
    case 'dst':
      return set.entries.has(addressEntry(address)) || set.entries.has(portEntry(port));
    case 'dst,dst':
      return set.entries.has(addressPortEntry(address, protocol, port));
    case 'src,dst':
      return set.entries.has(addressPortEntry(source, protocol, port));
    default:
      return hasSource(set, source, addressPortEntry(address, protocol, port));
  }
}

function hasSource({ entries }: IpSet, source: IpAddress, front: string): boolean {
  return [...entries].some((entry) => {
    if (!entry.startsWith(`${front},`)) return false;
    return isFrom(entry.slice(front.length + 1), source);
  });
}
