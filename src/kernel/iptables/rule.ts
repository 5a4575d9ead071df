import { assertNever } from '../../model/assert-never.ts';
import type { Cidr } from '../../net/cidr.ts';
import type { IpAddress } from '../../net/ip-address.ts';
import type { Protocol } from '../../net/protocol.ts';
import { protocolNumber } from '../../net/protocol.ts';

/** One condition of a rule, with its parameters. */
export type Match =
  | { readonly kind: 'source'; readonly of: Cidr | IpAddress; readonly negated: boolean }
  | { readonly kind: 'destination'; readonly of: IpAddress }
  | { readonly kind: 'input-interface'; readonly name: string; readonly negated: boolean }
  | { readonly kind: 'protocol'; readonly protocol: Protocol }
  | { readonly kind: 'echo-request' }
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'set'; readonly name: string; readonly directions: string }
  | { readonly kind: 'not-from-bridge' }
  | { readonly kind: 'source-local'; readonly negated: boolean }
  | { readonly kind: 'destination-local' }
  | { readonly kind: 'mark'; readonly mark: number; readonly negated: boolean }
  | { readonly kind: 'state'; readonly states: string }
  /** First packet of a connection that was dialled at this port, whatever the protocol. */
  | { readonly kind: 'new-to-port'; readonly port: number }
  | { readonly kind: 'ipvs'; readonly address: IpAddress; readonly protocol: Protocol; readonly port: number };

/** What becomes of a packet that meets all conditions. */
export type Target =
  | { readonly kind: 'accept' | 'return' | 'drop' | 'reject' }
  /** Of packets that another condition has told to be TCP. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'jump'; readonly chain: string }
  | { readonly kind: 'set-mark' | 'clear-mark'; readonly mark: number }
  | { readonly kind: 'masquerade'; readonly randomFully: boolean };

export interface Rule {
  readonly matches: readonly Match[];
  readonly target: Target;
}

/**
 * The rule without its chain, letter for letter as `ip[6]tables-save` prints it and `ip[6]tables-restore` reads it, so that a
 * rule in the kernel and a wanted one can be compared as text. Matches stand in the order given; sources, destinations, interfaces and
 * protocols must come first, because iptables prints them first.
 */
export function renderRule({ matches, target }: Rule, family: 'IPv4' | 'IPv6'): string {
  return [...matches.map((match) => renderMatch(match, family)), renderTarget(target, family)].join(' ');
}

function renderMatch(match: Match, family: 'IPv4' | 'IPv6'): string {
  const not = 'negated' in match && match.negated ? '! ' : '';
  switch (match.kind) {
    case 'source':
      return `${not}-s ${network(match.of, family)}`;
    case 'destination':
      return `-d ${network(match.of, family)}`;
    case 'input-interface':
      return `${not}-i ${match.name}`;
    case 'protocol':
      return `-p ${match.protocol.toLowerCase()}`;
    case 'echo-request':
      return family === 'IPv4' ? '-p icmp -m icmp --icmp-type 8' : '-p ipv6-icmp -m icmp6 --icmpv6-type 128';
    case 'comment':
      return `-m comment --comment "${match.text.replace(/["\\']/g, '\\$&')}"`;
    case 'set':
      return `-m set --match-set ${match.name} ${match.directions}`;
    case 'not-from-bridge':
      return '-m physdev ! --physdev-is-in';
    case 'source-local':
      return `-m addrtype ${not}--src-type LOCAL`;
    case 'destination-local':
      return '-m addrtype --dst-type LOCAL';
    case 'mark':
      return `-m mark ${not}--mark ${hex(match.mark)}/${hex(match.mark)}`;
    case 'state':
      return `-m conntrack --ctstate ${match.states}`;
    case 'new-to-port':
      return `-m conntrack --ctstate NEW --ctorigdstport ${match.port}`;
    case 'ipvs':
      return `-m ipvs --vproto ${protocolNumber(match.protocol)} --vaddr ${match.address} --vport ${match.port}`;
    default:
      return assertNever(match);
  }
}

function network(of: Cidr | IpAddress, family: 'IPv4' | 'IPv6'): string {
  return of.includes('/') ? of : `${of}/${family === 'IPv4' ? 32 : 128}`;
}

function renderTarget(target: Target, family: 'IPv4' | 'IPv6'): string {
  switch (target.kind) {
    case 'accept':
      return '-j ACCEPT';
    case 'return':
      return '-j RETURN';
    case 'drop':
      return '-j DROP';
    case 'reject':
      return `-j REJECT --reject-with ${family === 'IPv4' ? 'icmp' : 'icmp6'}-port-unreachable`;
    case 'reset':
      return '-j REJECT --reject-with tcp-reset';
    case 'jump':
      return `-j ${target.chain}`;
    case 'set-mark':
      return `-j MARK --set-xmark ${hex(target.mark)}/${hex(target.mark)}`;
    case 'clear-mark':
      return `-j MARK --set-xmark ${hex(target.mark)}/0x0`;
    case 'masquerade':
      return target.randomFully ? '-j MASQUERADE --random-fully' : '-j MASQUERADE';
    default:
      return assertNever(target);
  }
}

function hex(mark: number): string {
  return `0x${(mark >>> 0).toString(16)}`;
}
