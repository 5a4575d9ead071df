import { type SetId, setComment, setName } from '../kernel/ipset/definitions.ts';
import { type Match, type Rule, renderRule, type Target } from '../kernel/iptables/rule.ts';
import type { Jump, RuleText, WantedTables } from '../kernel/iptables/state.ts';
import { type Cidr, parseCidr } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import type { Protocol } from '../net/protocol.ts';
import type { LocalDetector } from './node-inputs.ts';

/** What the rules of one family depend on; they do not grow with the number of Services, but for `closedToNode`. */
export interface RuleInputs {
  readonly family: Family;
  /** Sets that have entries. */
  readonly filled: ReadonlySet<SetId>;
  /** Bit pattern that asks for masquerading. */
  readonly mark: number;
  readonly masqueradeAll: boolean;
  readonly randomFully: boolean;
  readonly detector: LocalDetector | undefined;
  /** Load-balancer frontends that the node itself may not use. */
  readonly closedToNode: readonly { readonly address: IpAddress; readonly protocol: Protocol; readonly port: Port }[];
}

/**
 * All chains, rules and jumps of one family.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go
 */
export function wantedTables(inputs: RuleInputs): WantedTables {
  const { family } = inputs;
  const chain = (name: string, rules: readonly Rule[]): [string, readonly RuleText[]] => [
    name,
    rules.map((rule) => renderRule(rule, family)),
  ];
  const jump = (from: string, to: string, comment: string): Jump => ({
    from,
    rule: renderRule(rule([{ kind: 'comment', text: comment }], { kind: 'jump', chain: to }), family),
  });
  return {
    nat: {
      chains: new Map([
        chain('KUBE-SERVICES', serviceRules(inputs)),
        chain('KUBE-POSTROUTING', postroutingRules(inputs)),
        chain('KUBE-NODE-PORT', nodePortRules(inputs)),
        chain('KUBE-LOAD-BALANCER', loadBalancerRules(inputs)),
        chain('KUBE-MARK-MASQ', [rule([], { kind: 'set-mark', mark: inputs.mark })]),
      ]),
      jumps: [
        jump('OUTPUT', 'KUBE-SERVICES', 'kubernetes service portals'),
        jump('PREROUTING', 'KUBE-SERVICES', 'kubernetes service portals'),
        jump('POSTROUTING', 'KUBE-POSTROUTING', 'kubernetes postrouting rules'),
      ],
    },
    filter: {
      chains: new Map([
        chain('KUBE-FORWARD', forwardRules(inputs)),
        chain('KUBE-NODE-PORT', [rule(named('HEALTH-CHECK-NODE-PORT', family, 'dst'), ACCEPT)]),
        chain('KUBE-PROXY-FIREWALL', firewallRules(inputs)),
        chain('KUBE-SOURCE-RANGES-FIREWALL', sourceRangeRules(inputs)),
        chain('KUBE-IPVS-FILTER', accessRules(inputs)),
        chain('KUBE-IPVS-OUT-FILTER', closedToNodeRules(inputs)),
      ]),
      jumps: [
        jump('FORWARD', 'KUBE-FORWARD', 'kubernetes forwarding rules'),
        jump('INPUT', 'KUBE-NODE-PORT', 'kubernetes health check rules'),
        jump('INPUT', 'KUBE-PROXY-FIREWALL', 'kube-proxy firewall rules'),
        jump('FORWARD', 'KUBE-PROXY-FIREWALL', 'kube-proxy firewall rules'),
        jump('INPUT', 'KUBE-IPVS-FILTER', 'kubernetes ipvs access filter'),
        jump('OUTPUT', 'KUBE-IPVS-OUT-FILTER', 'kubernetes ipvs access filter'),
      ],
    },
  };
}

function serviceRules(inputs: RuleInputs): readonly Rule[] {
  const { family } = inputs;
  const fromElsewhere: readonly Match[] = [{ kind: 'not-from-bridge' }, { kind: 'source-not-local' }];
  const acceptExternal = (id: SetId) => [
    rule([...named(id, family, 'dst,dst'), ...fromElsewhere], ACCEPT),
    rule([...named(id, family, 'dst,dst'), { kind: 'destination-local' }], ACCEPT),
  ];
  return [
    rule([{ kind: 'source', of: LOOPBACK[family], negated: false }], RETURN),
    ...ifFilled(inputs, 'LOAD-BALANCER', (id) => [rule(named(id, family, 'dst,dst'), jumpTo('KUBE-LOAD-BALANCER'))]),
    ...ifFilled(inputs, 'CLUSTER-IP', () => [markClusterIP(inputs)]),
    ...ifFilled(inputs, 'EXTERNAL-IP', (id) => [rule(named(id, family, 'dst,dst'), MARK), ...acceptExternal(id)]),
    ...ifFilled(inputs, 'EXTERNAL-IP-LOCAL', acceptExternal),
    rule([{ kind: 'destination-local' }], jumpTo('KUBE-NODE-PORT')),
    ...ifFilled(inputs, 'CLUSTER-IP', (id) => [rule([inSet(id, family, 'dst,dst')], ACCEPT)]),
    ...ifFilled(inputs, 'LOAD-BALANCER', (id) => [rule([inSet(id, family, 'dst,dst')], ACCEPT)]),
  ];
}

/** Without a detector only connections from the node are sure to need it: their source is the cluster address itself. */
function markClusterIP({ family, masqueradeAll, detector }: RuleInputs): Rule {
  if (masqueradeAll) return rule(named('CLUSTER-IP', family, 'dst,dst'), MARK);
  if (!detector) return rule(named('CLUSTER-IP', family, 'src,dst'), MARK);
  const notLocal: Match =
    detector.kind === 'source'
      ? { kind: 'source', of: detector.cidr, negated: true }
      : { kind: 'input-interface', name: detector.name, negated: true };
  return rule([notLocal, ...named('CLUSTER-IP', family, 'dst,dst')], MARK);
}

function loadBalancerRules(inputs: RuleInputs): readonly Rule[] {
  return [
    ...ifFilled(inputs, 'LOAD-BALANCER-LOCAL', (id) => [rule(named(id, inputs.family, 'dst,dst'), RETURN)]),
    rule([], MARK),
  ];
}

function nodePortRules(inputs: RuleInputs): readonly Rule[] {
  const ofProtocol = (protocol: Protocol, set: string, directions: string) => {
    const match = (id: SetId): readonly Match[] => [
      { kind: 'protocol', protocol },
      ...named(id, inputs.family, directions),
    ];
    return [
      ...ifFilled(inputs, `NODE-PORT-LOCAL-${set}` as SetId, (id) => [rule(match(id), RETURN)]),
      ...ifFilled(inputs, `NODE-PORT-${set}` as SetId, (id) => [rule(match(id), MARK)]),
    ];
  };
  return [
    ...ofProtocol('TCP', 'TCP', 'dst'),
    ...ofProtocol('UDP', 'UDP', 'dst'),
    ...ofProtocol('SCTP', 'SCTP-HASH', 'dst,dst'),
  ];
}

/** The mark is cleared before masquerading, so that a packet that is wrapped and sent again is not masqueraded twice. */
function postroutingRules({ family, mark, randomFully, ...inputs }: RuleInputs): readonly Rule[] {
  const needed: Match = { kind: 'comment', text: 'kubernetes service traffic requiring SNAT' };
  return [
    ...ifFilled(inputs, 'LOOP-BACK', (id) => [
      rule(named(id, family, 'dst,dst,src'), { kind: 'masquerade', randomFully: false }),
    ]),
    rule([{ kind: 'mark', mark, negated: true }], RETURN),
    rule([], { kind: 'clear-mark', mark }),
    rule([needed], { kind: 'masquerade', randomFully }),
  ];
}

function forwardRules({ mark }: RuleInputs): readonly Rule[] {
  const comment = (text: string): Match => ({ kind: 'comment', text });
  return [
    rule([comment('kubernetes forwarding rules'), { kind: 'mark', mark, negated: false }], ACCEPT),
    rule([comment('kubernetes forwarding conntrack rule'), { kind: 'state', states: 'RELATED,ESTABLISHED' }], ACCEPT),
  ];
}

function firewallRules(inputs: RuleInputs): readonly Rule[] {
  return ifFilled(inputs, 'LOAD-BALANCER-FW', (id) => [
    rule(named(id, inputs.family, 'dst,dst'), jumpTo('KUBE-SOURCE-RANGES-FIREWALL')),
  ]);
}

function sourceRangeRules(inputs: RuleInputs): readonly Rule[] {
  const allow = (id: SetId) => [rule(named(id, inputs.family, 'dst,dst,src'), RETURN)];
  return [
    ...ifFilled(inputs, 'LOAD-BALANCER-SOURCE-CIDR', allow),
    ...ifFilled(inputs, 'LOAD-BALANCER-SOURCE-IP', allow),
    rule([], { kind: 'drop' }),
  ];
}

/** Whatever else of the node listens on all addresses is not reached by way of a Service's address. */
function accessRules({ family }: RuleInputs): readonly Rule[] {
  const portals = ['LOAD-BALANCER', 'CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL'] as const;
  return [
    ...portals.map((id) => rule([inSet(id, family, 'dst,dst')], RETURN)),
    rule([inSet('HEALTH-CHECK-NODE-PORT', family, 'dst')], RETURN),
    rule([{ kind: 'state', states: 'NEW' }, inSet('IPVS-IPS', family, 'dst')], { kind: 'reject' }),
  ];
}

function closedToNodeRules({ closedToNode }: RuleInputs): readonly Rule[] {
  return closedToNode.map(({ address, protocol, port }) =>
    rule(
      [
        { kind: 'source', of: address, negated: false },
        { kind: 'ipvs', address, protocol, port },
      ],
      { kind: 'drop' },
    ),
  );
}

function ifFilled(
  { filled }: Pick<RuleInputs, 'filled'>,
  id: SetId,
  rules: (id: SetId) => readonly Rule[],
): readonly Rule[] {
  return filled.has(id) ? rules(id) : [];
}

function named(id: SetId, family: Family, directions: string): readonly Match[] {
  return [{ kind: 'comment', text: setComment(id) }, inSet(id, family, directions)];
}

function inSet(id: SetId, family: Family, directions: string): Match {
  return { kind: 'set', name: setName(id, family), directions };
}

function rule(matches: readonly Match[], target: Target): Rule {
  return { matches, target };
}

function jumpTo(chain: string): Target {
  return { kind: 'jump', chain };
}

const ACCEPT: Target = { kind: 'accept' };
const RETURN: Target = { kind: 'return' };
const MARK: Target = jumpTo('KUBE-MARK-MASQ');
const LOOPBACK: Readonly<Record<Family, Cidr>> = { IPv4: cidr('127.0.0.0/8'), IPv6: cidr('::1/128') };

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`not a CIDR: ${text}`);
  return parsed;
}
