import type { ReadTable, ReadTables, RuleText, WantedTable, WantedTables } from '../kernel/iptables/state.ts';

/**
 * Wants also what stands of our rules that masquerade or keep out, each behind the rule that it stood behind. Rules are written before
 * virtual servers change, and what only the old ones say of a client, by another detector, by `masqueradeAll`, of a frontend that is closed
 * to the node, holds for what still stands; after a restart only the kernel tells of it. A client whom either state masquerades gets its
 * answers in both, so that together they harm nobody.
 */
export function withStandingRules(wanted: WantedTables, observed: ReadTables): WantedTables {
  return { nat: withStanding(wanted.nat, observed.nat), filter: withStanding(wanted.filter, observed.filter) };
}

/** As we and kube-proxy write them; the last are those of `refusing-rules.ts`. */
const KEPT =
  /(--match-set KUBE-.* -j (KUBE-MARK-MASQ|DROP)|^-s \S+ -m ipvs --vproto \S+ --vaddr \S+ --vport \d+ -j DROP|--ctorigdstport \d+ -j REJECT \S+ \S+)$/;

function withStanding(table: WantedTable, present: ReadTable): WantedTable {
  const chains = [...table.chains].map(([name, rules]) => [name, merge(rules, present.get(name) ?? [])] as const);
  return { ...table, chains: new Map(chains) };
}

function merge(wanted: readonly RuleText[], present: readonly RuleText[]): readonly RuleText[] {
  const known = new Set(wanted);
  const behind = new Map<RuleText | undefined, RuleText[]>();
  let last: RuleText | undefined;
  for (const rule of present) {
    if (known.has(rule)) last = rule;
    else if (KEPT.test(rule)) {
      const kept = behind.get(last);
      if (kept) kept.push(rule);
      else behind.set(last, [rule]);
    }
  }
  if (behind.size === 0) return wanted;
  return [undefined, ...wanted].flatMap((rule) => [...(rule === undefined ? [] : [rule]), ...(behind.get(rule) ?? [])]);
}
