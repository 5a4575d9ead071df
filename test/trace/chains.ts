import {
  type ReadTables,
  type RuleText,
  TABLES,
  type TableName,
  type WantedTables,
} from '../../src/kernel/iptables/state.ts';
import type { Family } from '../../src/net/family.ts';
import { type MatchContext, matches } from './match.ts';
import type { Packet } from './packet.ts';
import { parseRule, type Rule } from './rule.ts';

/** Rules of the administrator in a built-in chain, and what becomes of packets that no rule decides. */
export interface BuiltInChain {
  readonly policy?: 'ACCEPT' | 'DROP';
  /** Were there before the proxier came. */
  readonly before?: readonly RuleText[];
  /** Put in front of everything afterwards. */
  readonly inserted?: readonly RuleText[];
  /** Put behind everything afterwards. */
  readonly appended?: readonly RuleText[];
}

/** Table of each built-in chain that can be given; nat OUTPUT cannot. */
const TABLE_OF = {
  INPUT: 'filter',
  FORWARD: 'filter',
  OUTPUT: 'filter',
  PREROUTING: 'nat',
  POSTROUTING: 'nat',
} as const;

export type BuiltInChains = Readonly<Partial<Record<keyof typeof TABLE_OF, BuiltInChain>>>;

/** What a chain made of a packet. `by` is the chain with the rule that decided, or the policy. */
export interface Verdict {
  readonly kind: 'accept' | 'drop' | 'reject' | 'masquerade';
  readonly by: string;
  readonly mark: number;
}

/** The rules of one family, ready to be run. */
export interface RuleSet {
  /** From a built-in chain to its verdict. Throws on rules that the tracer does not know or the kernel would not take. */
  run(table: TableName, chain: string, packet: Packet, context: MatchContext): Verdict;
}

export function ruleSet(tables: WantedTables | ReadTables, builtIn: BuiltInChains, family: Family): RuleSet {
  const chains = new Map<string, readonly Rule[]>();
  for (const table of TABLES) {
    const texts = withAdministrator(tables[table], table, builtIn);
    for (const [name, rules] of texts) {
      chains.set(
        `${table} ${name}`,
        rules.map((rule) => parseChecked(rule, table, name, texts, family)),
      );
    }
  }
  return {
    run: (table, chain, packet, context) => {
      const policy = (table === 'filter' ? builtIn[chain as keyof BuiltInChains]?.policy : undefined) ?? 'ACCEPT';
      const decided = runChain({ chains, table, context }, [chain], packet);
      if (decided.kind !== 'return') return { ...decided, kind: decided.kind };
      return { kind: policy === 'ACCEPT' ? 'accept' : 'drop', by: `the policy of ${chain}`, mark: decided.mark };
    },
  };
}

type Texts = ReadonlyMap<string, readonly RuleText[]>;

function withAdministrator(
  table: WantedTables[TableName] | ReadTables[TableName],
  name: TableName,
  builtIn: BuiltInChains,
): Texts {
  const given = Object.entries(builtIn).filter(([chain]) => TABLE_OF[chain as keyof BuiltInChains] === name);
  const before = new Map(given.map(([chain, { before: rules = [] }]) => [chain, rules]));
  const isRead = table instanceof Map;
  if (isRead && [...before.values()].some((rules) => rules.length > 0)) {
    throw new Error('rules from before the proxier are in the tables already, as these were read from a kernel');
  }
  const texts = new Map(isRead ? table : installed(table as WantedTables[TableName], before));
  for (const [chain, { inserted = [], appended = [] }] of given) {
    texts.set(chain, [...inserted, ...(texts.get(chain) ?? []), ...appended]);
  }
  return texts;
}

function installed({ chains, jumps }: WantedTables[TableName], before: Texts): Texts {
  const texts = new Map([...before, ...chains]);
  for (const { from, rule, place } of jumps) {
    const rules = texts.get(from) ?? [];
    texts.set(from, place === 'first' ? [rule, ...rules] : [...rules, rule]);
  }
  return texts;
}

/** The kernel takes MASQUERADE in nat only, DROP and REJECT in filter only, and jumps to chains that are there. */
function parseChecked(text: RuleText, table: TableName, chain: string, texts: Texts, family: Family): Rule {
  const rule = parseRule(text, family);
  const { target } = rule;
  const misplaced = table === 'nat' ? ['drop', 'reject'] : ['masquerade'];
  if (misplaced.includes(target.kind)) throw new Error(`${table} ${chain} cannot hold the rule: ${text}`);
  if (target.kind === 'jump' && !texts.has(target.chain)) {
    throw new Error(`the tracer does not know the target ${target.chain} in the rule: ${text}`);
  }
  return rule;
}

interface Run {
  readonly chains: ReadonlyMap<string, readonly Rule[]>;
  readonly table: TableName;
  readonly context: MatchContext;
}

type Decision = Omit<Verdict, 'kind'> & { readonly kind: Verdict['kind'] | 'return' };

/** `way`: the chains from the built-in one to this one. */
function runChain(run: Run, way: readonly string[], given: Packet): Decision {
  const chain = way.at(-1) ?? '';
  if (way.indexOf(chain) < way.length - 1) throw new Error(`the chains lead in a circle: ${way.join(', ')}`);
  let packet = given;
  for (const { matches: conditions, target } of run.chains.get(`${run.table} ${chain}`) ?? []) {
    if (!conditions.every((match) => matches(match, packet, run.context))) continue;
    if (target.kind === 'set-mark') {
      packet = { ...packet, mark: ((packet.mark & ~target.mask) ^ target.value) >>> 0 };
      continue;
    }
    if (target.kind !== 'jump') return { kind: target.kind, by: chain, mark: packet.mark };
    const inner = runChain(run, [...way, target.chain], packet);
    if (inner.kind !== 'return') return inner;
    packet = { ...packet, mark: inner.mark };
  }
  return { kind: 'return', by: chain, mark: packet.mark };
}
