import { type Rule, renderRule } from '../kernel/iptables/rule.ts';
import type { Jump, RuleText, WantedTables } from '../kernel/iptables/state.ts';
import { ACCEPT_CHAIN, filterChains } from './filter-rules.ts';
import { natChains } from './nat-rules.ts';
import type { RuleInputs } from './rule-inputs.ts';
import { jumpTo, rule } from './rule-parts.ts';

/**
 * All chains, rules and jumps of one family.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go
 */
export function wantedTables(inputs: RuleInputs): WantedTables {
  const { family } = inputs;
  const written = (chains: readonly (readonly [string, readonly Rule[]])[]): ReadonlyMap<string, readonly RuleText[]> =>
    new Map(chains.map(([name, rules]) => [name, rules.map((each) => renderRule(each, family))]));
  const jump = (from: string, to: string, text: string, place: Jump['place'] = 'first'): Jump => ({
    from,
    rule: renderRule(rule([{ kind: 'comment', text }], jumpTo(to)), family),
    place,
  });
  const documented = inputs.behaviour === 'documented';
  return {
    nat: {
      chains: written(natChains(inputs)),
      jumps: [
        jump('OUTPUT', 'KUBE-SERVICES', 'kubernetes service portals'),
        jump('PREROUTING', 'KUBE-SERVICES', 'kubernetes service portals'),
        jump('POSTROUTING', 'KUBE-POSTROUTING', 'kubernetes postrouting rules'),
      ],
      obsolete: [],
    },
    filter: {
      chains: written(filterChains(inputs)),
      jumps: [
        jump('FORWARD', 'KUBE-FORWARD', 'kubernetes forwarding rules'),
        jump('INPUT', 'KUBE-NODE-PORT', 'kubernetes health check rules'),
        jump('INPUT', 'KUBE-PROXY-FIREWALL', 'kube-proxy firewall rules'),
        jump('FORWARD', 'KUBE-PROXY-FIREWALL', 'kube-proxy firewall rules'),
        jump('INPUT', 'KUBE-IPVS-FILTER', 'kubernetes ipvs access filter'),
        jump('OUTPUT', 'KUBE-IPVS-OUT-FILTER', 'kubernetes ipvs access filter'),
        ...(documented ? [jump('INPUT', ACCEPT_CHAIN, 'kubernetes ipvs service ports', 'last')] : []),
      ],
      obsolete: documented ? [] : [ACCEPT_CHAIN],
    },
  };
}
