import type { ReadTables, RuleText, WantedTables } from '../kernel/iptables/state.ts';

/**
 * Wants also what keeps the node from frontends that stand: their virtual servers go later than the rules are written, and after a restart
 * only the kernel tells of them.
 */
export function withStandingClosures(wanted: WantedTables, observed: ReadTables): WantedTables {
  const present = observed.filter.get(CHAIN) ?? [];
  const rules = wanted.filter.chains.get(CHAIN) ?? [];
  const surplus = present.filter((rule) => CLOSES.test(rule) && !rules.includes(rule));
  if (surplus.length === 0) return wanted;
  const all: readonly RuleText[] = [...rules, ...surplus];
  return { ...wanted, filter: { ...wanted.filter, chains: new Map(wanted.filter.chains).set(CHAIN, all) } };
}

const CHAIN = 'KUBE-IPVS-OUT-FILTER';

/** As we and kube-proxy write them. */
const CLOSES = /^-s \S+ -m ipvs --vproto \S+ --vaddr \S+ --vport \d+ -j DROP$/;
