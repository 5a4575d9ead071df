import type { EveryTable, ReadTable, RuleText } from '../kernel/iptables/state.ts';

/** Whose chains are taken away, and by what they are told from those of others. */
export interface Owner {
  /** A chain that goes, unless something that stays needs it. */
  readonly isOwnChain: (table: string, chain: string, rules: readonly RuleText[]) => boolean;
  /** A chain that is to stay with its rules although it has one of the names; gives the reason. */
  readonly staysBecause: (table: string, chain: string) => string | undefined;
  /** A rule in a chain that stays, by which `target`, which goes, is entered: true when it is the owner's and goes too. */
  readonly isOwnJump: (at: RulePlace, target: string) => boolean;
  /** A rule in a chain that stays, which goes whatever becomes of its target. */
  readonly isOwnRule: (at: RulePlace) => boolean;
}

export interface RulePlace {
  readonly table: string;
  readonly chain: string;
  readonly rule: RuleText;
}

/** What goes of one table. Every chain and rule that is not named stays as it is. */
export interface TableRemoval {
  readonly table: string;
  /** Rules of chains that stay. */
  readonly rules: readonly { readonly chain: string; readonly rule: RuleText }[];
  /** Chains that others need: they stay without rules. */
  readonly emptied: readonly string[];
  readonly chains: readonly string[];
}

/** A chain that stays although it has one of the names. */
export interface KeptChain {
  readonly table: string;
  readonly chain: string;
  readonly why: string;
}

export interface TablesRemoval {
  /** None for a table of which nothing goes. */
  readonly removals: readonly TableRemoval[];
  readonly kept: readonly KeptChain[];
}

export function removeFromTables(tables: EveryTable, owner: Owner): TablesRemoval {
  const each = [...tables].map(([name, table]) => removeFromTable(name, table, owner));
  return {
    removals: each.flatMap(({ removal }) => (hasWork(removal) ? [removal] : [])),
    kept: each.flatMap(({ kept }) => kept),
  };
}

/** The chain that a rule leads to; `undefined` where it has no target, or one with words of its own. */
export function targetOf(rule: RuleText): string | undefined {
  return /(?:^| )-[jg] (\S+)$/.exec(rule)?.[1];
}

/**
 * Input of `ip[6]tables-restore --noflush`; `''` for no removals. A `:CHAIN` line empties the chain, and a table is exchanged as a whole, so
 * that no packet meets half of it.
 */
export function renderTableRemovals(removals: readonly TableRemoval[]): string {
  return removals
    .map(({ table, rules, emptied, chains }) => {
      const lines = [
        `*${table}`,
        ...[...emptied, ...chains].map((chain) => `:${chain} - [0:0]`),
        ...rules.map(({ chain, rule }) => `-D ${chain} ${rule}`),
        ...chains.map((chain) => `-X ${chain}`),
        'COMMIT',
      ];
      return `${lines.join('\n')}\n`;
    })
    .join('');
}

/** Rules of others count on these as they are: what the first marks, the second masquerades. */
const MARKING = 'KUBE-MARK-MASQ';
const MASQUERADING = 'KUBE-POSTROUTING';

function removeFromTable(
  table: string,
  chains: ReadTable,
  owner: Owner,
): { readonly removal: TableRemoval; readonly kept: readonly KeptChain[] } {
  const own = new Set([...chains].flatMap(([chain, rules]) => (owner.isOwnChain(table, chain, rules) ? [chain] : [])));
  const whys = keptChains(table, chains, own, owner);
  const isWhole = (chain: string) =>
    whys.has(chain) && (chain === MARKING || chain === MASQUERADING || owner.staysBecause(table, chain) !== undefined);
  const places = [...chains].flatMap(([chain, rules]) =>
    own.has(chain) && !isWhole(chain) ? [] : rules.map((rule) => ({ table, chain, rule })),
  );
  const goes = (place: RulePlace) => {
    const target = targetOf(place.rule);
    const isLeft = target !== undefined && own.has(target) && !isWhole(target);
    return owner.isOwnRule(place) || (isLeft && owner.isOwnJump(place, target));
  };
  return {
    removal: {
      table,
      rules: places.filter(goes).map(({ chain, rule }) => ({ chain, rule })),
      emptied: [...whys.keys()].filter((chain) => !isWhole(chain) && chains.get(chain)?.length !== 0),
      chains: [...own].filter((chain) => !whys.has(chain)),
    },
    kept: [...whys].map(([chain, why]) => ({ table, chain, why })),
  };
}

/** Chains among `own` that have to stay, with the reason: the owner wants it, or a rule that stays leads to them. */
function keptChains(
  table: string,
  chains: ReadTable,
  own: ReadonlySet<string>,
  owner: Owner,
): ReadonlyMap<string, string> {
  const whys = new Map<string, string>();
  for (const chain of own) {
    const why = owner.staysBecause(table, chain);
    if (why !== undefined) whys.set(chain, why);
  }
  const staying = [...chains].filter(([chain]) => !own.has(chain) || whys.has(chain));
  for (const [chain, rules] of staying) {
    for (const rule of rules) {
      const [place, target] = [{ table, chain, rule }, targetOf(rule)];
      if (target === undefined || !own.has(target) || whys.has(target)) continue;
      if (owner.isOwnRule(place) || owner.isOwnJump(place, target)) continue;
      whys.set(target, `a rule of chain ${chain} leads to it`);
    }
  }
  if (whys.has(MARKING) && own.has(MASQUERADING) && !whys.has(MASQUERADING)) {
    whys.set(MASQUERADING, `it masquerades what ${MARKING} marks`);
  }
  return whys;
}

function hasWork({ rules, emptied, chains }: TableRemoval): boolean {
  return rules.length + emptied.length + chains.length > 0;
}
