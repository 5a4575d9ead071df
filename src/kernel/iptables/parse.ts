import { emptyTables } from './diff.ts';
import type { ReadTables, RuleText, TableName } from './state.ts';
import { TABLES } from './state.ts';

/**
 * Reads what `ip[6]tables-save` prints: the rules of every chain of the tables that we write, counters left out. A table that is not
 * in the text is empty. A line of any other form gives `undefined`.
 */
export function parseTables(text: string): ReadTables | undefined {
  const tables: Record<TableName, Map<string, RuleText[]>> = { nat: new Map(), filter: new Map() };
  let chains: Map<string, RuleText[]> | undefined;
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || line === 'COMMIT') continue;
    if (line.startsWith('*')) {
      const table = TABLES.find((name) => name === line.slice(1));
      chains = table && tables[table];
    } else if (line.startsWith(':')) {
      chains?.set(line.slice(1, line.indexOf(' ')), []);
    } else {
      const rule = RULE.exec(line);
      if (!rule) return undefined;
      chains?.get(rule[1] ?? '')?.push(rule[2] ?? '');
    }
  }
  return { ...emptyTables(), ...tables };
}

/** `[packets:bytes] -A CHAIN rule`, the counters only with `-c`. */
const RULE = /^(?:\[\d+:\d+\] )?-A (\S+)(?: (.*))?$/;
