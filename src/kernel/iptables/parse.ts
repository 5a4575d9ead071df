import { emptyTables } from './diff.ts';
import { type EveryTable, type ReadTables, type RuleText, TABLES } from './state.ts';

/**
 * Reads what `ip[6]tables-save` prints: the rules of every chain of the tables that we write, counters left out. A table that is not
 * in the text is empty. A line of any other form gives `undefined`.
 */
export function parseTables(text: string): ReadTables | undefined {
  const every = parseEveryTable(text);
  const read = every && TABLES.flatMap((name) => [[name, every.get(name)] as const].filter(([, table]) => table));
  return read && { ...emptyTables(), ...Object.fromEntries(read) };
}

/** The same of all tables that are in the text. */
export function parseEveryTable(text: string): EveryTable | undefined {
  const tables = new Map<string, Map<string, RuleText[]>>();
  let chains: Map<string, RuleText[]> | undefined;
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || line === 'COMMIT') continue;
    if (line.startsWith('*')) {
      chains = new Map();
      tables.set(line.slice(1), chains);
    } else if (line.startsWith(':')) {
      chains?.set(line.slice(1, line.indexOf(' ')), []);
    } else {
      const rule = RULE.exec(line);
      if (!rule) return undefined;
      chains?.get(rule[1] ?? '')?.push(rule[2] ?? '');
    }
  }
  return tables;
}

/** `[packets:bytes] -A CHAIN rule`, the counters only with `-c`. */
const RULE = /^(?:\[\d+:\d+\] )?-A (\S+)(?: (.*))?$/;
