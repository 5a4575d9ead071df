import { type Jump, type ReadTable, type ReadTables, TABLES, type TableName, type WantedTables } from './state.ts';

/** What must be written of one table. */
export interface TableChange {
  readonly table: TableName;
  /** All our chains: they are flushed and filled in one go. */
  readonly chains: WantedTables[TableName]['chains'];
  /** Those that are not there yet. */
  readonly jumps: readonly Jump[];
  /** Names of the chains whose rules differed, and of the built-in chains that lacked a jump. */
  readonly differing: readonly string[];
}

/**
 * The tables in which a chain of ours is missing or has other rules, or a jump is missing. Where an existing jump stands in its
 * chain is not looked at; chains and rules of others are not looked at either.
 */
export function diffIptables(observed: ReadTables, desired: WantedTables): readonly TableChange[] {
  return TABLES.flatMap((table) => {
    const { chains, jumps } = desired[table];
    const present = observed[table];
    const missing = jumps.filter(({ from, rule }) => !present.get(from)?.includes(rule));
    const differing = [...chains].filter(([name, rules]) => !sameRules(present.get(name), rules)).map(([name]) => name);
    if (missing.length === 0 && differing.length === 0) return [];
    return [{ table, chains, jumps: missing, differing: [...differing, ...missing.map(({ from }) => from)] }];
  });
}

/** The tables after the changes, provided the kernel accepts them. */
export function applyTableChanges(observed: ReadTables, changes: readonly TableChange[]): ReadTables {
  const tables = { ...observed };
  for (const { table, chains, jumps } of changes) {
    const after = new Map(observed[table]);
    for (const [name, rules] of chains) after.set(name, rules);
    for (const { from, rule } of jumps) after.set(from, [rule, ...(after.get(from) ?? [])]);
    tables[table] = after;
  }
  return tables;
}

/** Nothing in any table. */
export function emptyTables(): ReadTables {
  const empty: ReadTable = new Map();
  return { nat: empty, filter: empty };
}

function sameRules(present: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return (
    present !== undefined && present.length === wanted.length && wanted.every((rule, index) => rule === present[index])
  );
}
