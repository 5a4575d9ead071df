import { type ReadTables, type RuleText, TABLES, type TableName } from '../kernel/iptables/state.ts';
import type { Change } from './change.ts';

type RuleChange = Omit<Change, 'tool' | 'family' | 'services'>;

/** What differs between tables as they are and as a pass leaves them, chain by chain. Rules serve all Services together. */
export function ruleChanges(observed: ReadTables, after: ReadTables): readonly RuleChange[] {
  return TABLES.flatMap((table) => {
    const names = [...new Set([...observed[table].keys(), ...after[table].keys()])].sort();
    return names.flatMap((name) => chainChanges(table, name, observed[table].get(name), after[table].get(name)));
  });
}

function chainChanges(
  table: TableName,
  name: string,
  before: readonly RuleText[] | undefined,
  now: readonly RuleText[] | undefined,
): readonly RuleChange[] {
  const thing = `chain ${name} of table ${table}`;
  const rule = (text: RuleText) => `rule in chain ${name} of table ${table}: ${text}`;
  if (!now) return [{ action: 'remove', thing, why: 'it is not used' }];
  if (!before) return [{ action: 'add', thing, why: '' }, ...now.map((text) => added(rule(text)))];
  const [missing, surplus] = [without(now, before), without(before, now)];
  const moved = missing.length + surplus.length === 0 && now.some((text, index) => text !== before[index]);
  return [
    ...(moved ? [{ action: 'change', thing, why: 'rules in another order' } as const] : []),
    ...missing.map((text) => added(rule(text))),
    ...surplus.map((text) => ({ action: 'remove', thing: rule(text), why: 'it does not belong there' }) as const),
  ];
}

function added(thing: string): RuleChange {
  return { action: 'add', thing, why: '' };
}

/** What the first list has more often than the second one. */
function without(rules: readonly RuleText[], others: readonly RuleText[]): readonly RuleText[] {
  const left = [...others];
  return rules.filter((rule) => {
    const index = left.indexOf(rule);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
