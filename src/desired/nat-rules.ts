import type { SetId } from '../kernel/ipset/definitions.ts';
import type { Match, Rule } from '../kernel/iptables/rule.ts';
import { type Cidr, parseCidr } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import type { Protocol } from '../net/protocol.ts';
import type { RuleInputs } from './rule-inputs.ts';
import {
  ACCEPT,
  FROM_NODE,
  ifDocumented,
  ifFilled,
  inSet,
  jumpTo,
  MARK,
  NOT_FROM_NODE,
  named,
  notFromPods,
  RETURN,
  rule,
  TO_NODE,
} from './rule-parts.ts';

/** Our chains of table nat: they decide what is masqueraded, and keep rules of others away from traffic to Services. */
export function natChains(inputs: RuleInputs): readonly (readonly [string, readonly Rule[]])[] {
  return [
    ['KUBE-SERVICES', serviceRules(inputs)],
    ['KUBE-POSTROUTING', postroutingRules(inputs)],
    ['KUBE-NODE-PORT', nodePortRules(inputs)],
    ['KUBE-LOAD-BALANCER', loadBalancerRules(inputs)],
    ['KUBE-MARK-MASQ', [rule([], { kind: 'set-mark', mark: inputs.mark })]],
  ];
}

function serviceRules(inputs: RuleInputs): readonly Rule[] {
  const { family } = inputs;
  const acceptExternal = (id: SetId) => [
    rule([...named(id, family, 'dst,dst'), { kind: 'not-from-bridge' }, NOT_FROM_NODE], ACCEPT),
    rule([...named(id, family, 'dst,dst'), TO_NODE], ACCEPT),
  ];
  return [
    rule([{ kind: 'source', of: LOOPBACK[family], negated: false }], RETURN),
    ...markWithoutLocal(inputs),
    ...ifFilled(inputs, 'LOAD-BALANCER', (id) => [rule(named(id, family, 'dst,dst'), jumpTo('KUBE-LOAD-BALANCER'))]),
    ...ifFilled(inputs, 'CLUSTER-IP', () => [markClusterIP(inputs)]),
    ...ifFilled(inputs, 'EXTERNAL-IP', (id) => [rule(named(id, family, 'dst,dst'), MARK), ...acceptExternal(id)]),
    ...ifFilled(inputs, 'EXTERNAL-IP-LOCAL', (id) => [
      ...markFromNode(inputs, named(id, family, 'dst,dst')),
      ...acceptExternal(id),
    ]),
    rule([TO_NODE], jumpTo('KUBE-NODE-PORT')),
    ...ifFilled(inputs, 'CLUSTER-IP', (id) => [rule([inSet(id, family, 'dst,dst')], ACCEPT)]),
    ...ifFilled(inputs, 'LOAD-BALANCER', (id) => [rule([inSet(id, family, 'dst,dst')], ACCEPT)]),
  ];
}

/** Without a detector only connections from the node are sure to need it: their source is the cluster address itself. */
function markClusterIP({ family, masqueradeAll, detector }: RuleInputs): Rule {
  if (masqueradeAll) return rule(named('CLUSTER-IP', family, 'dst,dst'), MARK);
  if (!detector) return rule(named('CLUSTER-IP', family, 'src,dst'), MARK);
  return rule([notFromPods(detector), ...named('CLUSTER-IP', family, 'dst,dst')], MARK);
}

/**
 * Under policy Local without a local endpoint only the node's own Pods get their answers by way of the node; the node itself and Pods of
 * other nodes need it. Without a detector clients outside would be served by this, and they are not meant to be.
 */
function markWithoutLocal(inputs: RuleInputs): readonly Rule[] {
  const { detector, ownPods, family } = inputs;
  if (!detector) return [];
  const others = ownPods ? [notFromPods(ownPods)] : [];
  return ifDocumented(inputs, [rule([...others, ...named('EXTERNAL-NO-LOCAL', family, 'dst,dst')], MARK)]);
}

/** The node has the address it dials as its source; an endpoint elsewhere could not answer to that. Clients outside keep theirs. */
function markFromNode(inputs: RuleInputs, matches: readonly Match[]): readonly Rule[] {
  return ifDocumented(inputs, [rule([...matches, FROM_NODE], MARK)]);
}

function loadBalancerRules(inputs: RuleInputs): readonly Rule[] {
  return [
    ...ifFilled(inputs, 'LOAD-BALANCER-LOCAL', (id) => [
      ...markFromNode(inputs, named(id, inputs.family, 'dst,dst')),
      rule(named(id, inputs.family, 'dst,dst'), RETURN),
    ]),
    rule([], MARK),
  ];
}

function nodePortRules(inputs: RuleInputs): readonly Rule[] {
  const ofProtocol = (protocol: Protocol, set: 'TCP' | 'UDP' | 'SCTP-HASH', directions: string) => {
    const match = (id: SetId): readonly Match[] => [
      { kind: 'protocol', protocol },
      ...named(id, inputs.family, directions),
    ];
    return [
      ...ifFilled(inputs, `NODE-PORT-LOCAL-${set}`, (id) => [
        ...markFromNode(inputs, match(id)),
        rule(match(id), RETURN),
      ]),
      ...ifFilled(inputs, `NODE-PORT-${set}`, (id) => [rule(match(id), MARK)]),
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

const LOOPBACK: Readonly<Record<Family, Cidr>> = { IPv4: cidr('127.0.0.0/8'), IPv6: cidr('::1/128') };

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`not a CIDR: ${text}`);
  return parsed;
}
