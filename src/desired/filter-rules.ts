import type { Match, Rule } from '../kernel/iptables/rule.ts';
import type { Protocol } from '../net/protocol.ts';
import type { RuleInputs } from './rule-inputs.ts';
import {
  ACCEPT,
  DROP,
  ifDocumented,
  ifFilled,
  inSet,
  jumpTo,
  NEW,
  NOT_FROM_NODE,
  named,
  notFromPods,
  RETURN,
  rule,
} from './rule-parts.ts';

/** Our chains of table filter: they let traffic of Services through, and keep out what must not reach them. */
export function filterChains(inputs: RuleInputs): readonly (readonly [string, readonly Rule[]])[] {
  const { family } = inputs;
  const chains: readonly (readonly [string, readonly Rule[]])[] = [
    ['KUBE-FORWARD', forwardRules(inputs)],
    ['KUBE-NODE-PORT', [rule(named('HEALTH-CHECK-NODE-PORT', family, 'dst'), ACCEPT)]],
    ['KUBE-PROXY-FIREWALL', firewallRules(inputs)],
    ['KUBE-SOURCE-RANGES-FIREWALL', sourceRangeRules(inputs)],
    ['KUBE-IPVS-FILTER', accessRules(inputs)],
    ['KUBE-IPVS-OUT-FILTER', closedToNodeRules(inputs)],
  ];
  return inputs.behaviour === 'documented' ? [...chains, [ACCEPT_CHAIN, acceptRules(inputs)]] : chains;
}

/** A chain that kube-proxy does not have: it lets what is served through where an INPUT policy drops. */
export const ACCEPT_CHAIN = 'KUBE-IPVS-ACCEPT';

function forwardRules({ mark }: RuleInputs): readonly Rule[] {
  const comment = (text: string): Match => ({ kind: 'comment', text });
  return [
    rule([comment('kubernetes forwarding rules'), { kind: 'mark', mark, negated: false }], ACCEPT),
    rule([comment('kubernetes forwarding conntrack rule'), { kind: 'state', states: 'RELATED,ESTABLISHED' }], ACCEPT),
  ];
}

function firewallRules(inputs: RuleInputs): readonly Rule[] {
  return [
    ...ifFilled(inputs, 'LOAD-BALANCER-FW', (id) => [
      rule(named(id, inputs.family, 'dst,dst'), jumpTo('KUBE-SOURCE-RANGES-FIREWALL')),
    ]),
    ...ifDocumented(inputs, noLocalRules(inputs)),
  ];
}

/**
 * Policy Local without a local endpoint. Inside nobody is served; outside addresses are for Pods and the node, as if they had dialled the
 * cluster address. New connections only: those to endpoints that drain go on.
 */
function noLocalRules({ family, detector }: RuleInputs): readonly Rule[] {
  const outside = named('EXTERNAL-NO-LOCAL', family, 'dst,dst');
  return [
    rule([...named('CLUSTER-IP-NO-LOCAL', family, 'dst,dst'), NEW], DROP),
    ...(detector ? [rule([notFromPods(detector), ...outside, NOT_FROM_NODE, NEW], DROP)] : []),
  ];
}

function sourceRangeRules(inputs: RuleInputs): readonly Rule[] {
  return [
    ...ifFilled(inputs, 'LOAD-BALANCER-SOURCE-CIDR', (id) => [rule(named(id, inputs.family, 'dst,dst,src'), RETURN)]),
    ...ifFilled(inputs, 'LOAD-BALANCER-SOURCE-IP', (id) => [rule(named(id, inputs.family, 'dst,dst,src'), RETURN)]),
    rule([], DROP),
  ];
}

/**
 * Whatever else of the node listens on all addresses is not reached by way of a Service's address. TCP is refused by a reset: what comes of a
 * connection that its virtual server was taken from is new to connection tracking, and its client takes no notice of ICMP.
 */
function accessRules(inputs: RuleInputs): readonly Rule[] {
  const { family } = inputs;
  return [
    ...PORTALS.map((id) => rule([inSet(id, family, 'dst,dst')], RETURN)),
    rule([inSet('HEALTH-CHECK-NODE-PORT', family, 'dst')], RETURN),
    ...ifDocumented(inputs, [rule([{ kind: 'echo-request' }], RETURN)]),
    ...ifDocumented(inputs, [
      rule([{ kind: 'protocol', protocol: 'TCP' }, NEW, inSet('IPVS-IPS', family, 'dst')], { kind: 'reset' }),
    ]),
    rule([NEW, inSet('IPVS-IPS', family, 'dst')], { kind: 'reject' }),
  ];
}

const PORTALS = ['LOAD-BALANCER', 'CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL'] as const;

function closedToNodeRules({ closedToNode }: RuleInputs): readonly Rule[] {
  return closedToNode.map(({ address, protocol, port }) =>
    rule(
      [
        { kind: 'source', of: address, negated: false },
        { kind: 'ipvs', address, protocol, port },
      ],
      DROP,
    ),
  );
}

/** What is dialled passes INPUT before IPVS sends it on. What others have in INPUT comes before this and can still refuse it. */
function acceptRules({ family }: RuleInputs): readonly Rule[] {
  const onNode = (protocol: Protocol, matches: readonly Match[]) =>
    rule([{ kind: 'protocol', protocol }, ...matches], ACCEPT);
  return [
    ...PORTALS.map((id) => rule([inSet(id, family, 'dst,dst')], ACCEPT)),
    onNode('TCP', [inSet('NODE-PORT-IP', family, 'dst'), inSet('NODE-PORT-TCP', family, 'dst')]),
    onNode('UDP', [inSet('NODE-PORT-IP', family, 'dst'), inSet('NODE-PORT-UDP', family, 'dst')]),
    onNode('SCTP', [inSet('NODE-PORT-SCTP-HASH', family, 'dst,dst')]),
    rule([{ kind: 'echo-request' }, inSet('IPVS-IPS', family, 'dst')], ACCEPT),
  ];
}
