import {
  type Jump,
  type ReadTable,
  type ReadTables,
  type RuleText,
  TABLES,
  type TableName,
  type WantedTable,
  type WantedTables,
} from './state.ts';

/** What must be written of one table. */
export interface TableChange {
  readonly table: TableName;
  /** All our chains: they are flushed and filled in one go. */
  readonly chains: WantedTable['chains'];
  /** Those that are not there yet. */
  readonly jumps: readonly Jump[];
  /** Rules of any chain that lead to a chain that is removed. */
  readonly removedJumps: readonly { readonly from: string; readonly rule: RuleText }[];
  readonly removedChains: readonly string[];
  /** Names of the chains whose rules differed, and of the built-in chains that lacked a jump. */
  readonly differing: readonly string[];
}

/**
 * The tables in which a chain of ours is missing or has other rules, a jump is missing, or a chain is left over. Where an existing jump
 * stands in its chain is not looked at; chains and rules of others are not looked at either.
 */
export function diffIptables(observed: ReadTables, desired: WantedTables): readonly TableChange[] {
  return TABLES.flatMap((table) => {
    const { chains, jumps, obsolete } = desired[table];
    const present = observed[table];
    const missing = jumps.filter(({ from, rule }) => !present.get(from)?.includes(rule));
    const changed = [...chains].filter(([name, rules]) => !sameRules(present.get(name), rules)).map(([name]) => name);
    const removedChains = obsolete.filter((name) => present.has(name));
    const differing = [...changed, ...missing.map(({ from }) => from), ...removedChains];
    if (differing.length === 0) return [];
    const removedJumps = jumpsTo(present, removedChains, chains);
    return [{ table, chains, jumps: missing, removedJumps, removedChains, differing }];
  });
}

/** The tables without any rule of our chains that names one of the sets; nothing where there is none. */
export function withoutSets(
  observed: ReadTables,
  sets: readonly string[],
  desired: WantedTables,
): readonly TableChange[] {
  const names = namesAny(sets);
  return TABLES.flatMap((table) => {
    const own = [...observed[table]].filter(([name]) => desired[table].chains.has(name));
    const differing = own.filter(([, rules]) => rules.some(names)).map(([name]) => name);
    if (differing.length === 0) return [];
    const chains = new Map(own.map(([name, rules]) => [name, rules.filter((rule) => !names(rule))]));
    return [{ table, chains, jumps: [], removedJumps: [], removedChains: [], differing }];
  });
}

/** The same without any rule that names one of the sets: what a kernel takes that has not got them. */
export function wantedWithoutSets(wanted: WantedTables, sets: readonly string[]): WantedTables {
  if (sets.length === 0) return wanted;
  const names = namesAny(sets);
  const reduced = (table: WantedTable): WantedTable => ({
    ...table,
    chains: new Map([...table.chains].map(([chain, rules]) => [chain, rules.filter((rule) => !names(rule))])),
  });
  return { nat: reduced(wanted.nat), filter: reduced(wanted.filter) };
}

function namesAny(sets: readonly string[]): (rule: RuleText) => boolean {
  return (rule) => sets.some((set) => rule.includes(`--match-set ${set} `));
}

/** The tables after the changes, provided the kernel accepts them. */
export function applyTableChanges(observed: ReadTables, changes: readonly TableChange[]): ReadTables {
  const tables = { ...observed };
  for (const { table, chains, jumps, removedJumps, removedChains } of changes) {
    const after = new Map(tables[table]);
    for (const { from, rule } of removedJumps) after.set(from, without(after.get(from) ?? [], rule));
    for (const name of removedChains) after.delete(name);
    for (const [name, rules] of chains) after.set(name, rules);
    for (const { from, rule, place } of jumps) {
      const rules = after.get(from) ?? [];
      after.set(from, place === 'first' ? [rule, ...rules] : [...rules, rule]);
    }
    tables[table] = after;
  }
  return tables;
}

/** Nothing in any table. */
export function emptyTables(): ReadTables {
  const empty: ReadTable = new Map();
  return { nat: empty, filter: empty };
}

/** Rules of chains that stay and are not written anew. */
function jumpsTo(present: ReadTable, removed: readonly string[], written: WantedTable['chains']) {
  const chains = [...present].filter(([name]) => !removed.includes(name) && !written.has(name));
  return chains.flatMap(([from, rules]) =>
    rules.filter((rule) => removed.some((name) => rule.endsWith(`-j ${name}`))).map((rule) => ({ from, rule })),
  );
}

/** The first one that equals it is taken out. */
function without(rules: readonly RuleText[], rule: RuleText): readonly RuleText[] {
  const index = rules.indexOf(rule);
  return index < 0 ? rules : rules.toSpliced(index, 1);
}

function sameRules(present: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return (
    present !== undefined && present.length === wanted.length && wanted.every((rule, index) => rule === present[index])
  );
}
