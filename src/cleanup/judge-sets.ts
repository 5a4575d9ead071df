import { FAMILIES, type Family } from '../net/family.ts';
import { ipvsModeSets, setsOf } from './ipvs-mode.ts';
import type { Kept, Leftovers } from './leftovers.ts';
import type { TableRemoval } from './table-removal.ts';

export interface JudgedSets {
  readonly destroyed: readonly string[];
  /** Others look into them, so they have to stay, without entries. */
  readonly emptied: readonly string[];
  readonly kept: readonly Kept[];
}

/**
 * What becomes of our sets once these removals are done: the kernel destroys no set that a rule, or another set, names. A family whose
 * rules are not known keeps its sets, as it keeps its rules.
 */
export function judgeSets(leftovers: Leftovers, removals: ReadonlyMap<Family, readonly TableRemoval[]>): JudgedSets {
  const users = new Map([...namingRules(leftovers, removals), ...namingSets(leftovers)]);
  const families = FAMILIES.filter((family) => leftovers.tables[family] !== undefined);
  const ours = families.flatMap(ipvsModeSets).filter((name) => leftovers.sets.has(name));
  const used = ours.filter((name) => users.has(name));
  return {
    destroyed: ours.filter((name) => !users.has(name)),
    emptied: used.filter((name) => leftovers.sets.get(name)?.entries.size !== 0),
    kept: used.map((name) => ({ what: `set ${name}`, why: users.get(name) ?? '' })),
  };
}

type User = readonly [set: string, why: string];

/** Rules that stay. */
function namingRules({ tables }: Leftovers, removals: ReadonlyMap<Family, readonly TableRemoval[]>): readonly User[] {
  return FAMILIES.flatMap((family) =>
    [...(tables[family] ?? [])].flatMap(([table, chains]) => {
      const going = removals.get(family)?.find((removal) => removal.table === table);
      const without = new Set([...(going?.chains ?? []), ...(going?.emptied ?? [])]);
      const goes = (chain: string, rule: string) =>
        without.has(chain) || (going?.rules.some((each) => each.chain === chain && each.rule === rule) ?? false);
      return [...chains].flatMap(([chain, rules]) =>
        rules
          .filter((rule) => !goes(chain, rule))
          .flatMap(setsOf)
          .map((name): User => [name, `a rule of ${family} chain ${chain} of table ${table} names it`]),
      );
    }),
  );
}

function namingSets({ sets }: Leftovers): readonly User[] {
  const lists = [...sets.values()].filter(({ type }) => type === 'list:set');
  return lists.flatMap(({ name, entries }) =>
    [...entries].map((member): User => [member, `it is a member of set ${name}`]),
  );
}
