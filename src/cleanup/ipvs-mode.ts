import { ownSets } from '../kernel/ipset/definitions.ts';
import type { EveryTable, RuleText } from '../kernel/iptables/state.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import { isBuiltInChain, isIptablesModeChain, isIpvsModeChain, isSharedChain } from './chain-names.ts';
import { type Owner, removeFromTables, type TablesRemoval, targetOf } from './table-removal.ts';

/** Sets of older releases. */
const OLD_SETS = ['NODE-PORT-SCTP', 'NODE-PORT-LOCAL-SCTP'];

/** Names of all sets of a family that are ours, whatever is in them. */
export function ipvsModeSets(family: Family): readonly string[] {
  const { names, standIns } = ownSets(family);
  return [...names, ...standIns, ...OLD_SETS.map((name) => `KUBE-${family === 'IPv6' ? '6-' : ''}${name}`)];
}

const ALL_SETS: ReadonlySet<string> = new Set(FAMILIES.flatMap(ipvsModeSets));

/**
 * What ipvs mode made in the tables of one family. Where kube-proxy in iptables mode has taken over the chains that both have, these are
 * its own now.
 */
export function removeIpvsMode(tables: EveryTable): TablesRemoval {
  const targets = (tables.get('nat')?.get('KUBE-SERVICES') ?? []).map((rule) => targetOf(rule) ?? '');
  const isTakenOver = targets.some((target) => isIptablesModeChain('nat', target) && !isSharedChain('nat', target));
  const owner: Owner = {
    isOwnChain: (table, chain, rules) => isIpvsModeChain(table, chain) || isOldFirewall(table, chain, rules),
    staysBecause: (table, chain) => (isTakenOver && isSharedChain(table, chain) ? TAKEN_OVER : undefined),
    isOwnJump: ({ chain, rule }) => isBuiltInChain(chain) && JUMP.test(rule),
    isOwnRule: ({ table, chain, rule }) => isIpvsModeChain(table, chain) && namesOwnSet(rule),
  };
  return removeFromTables(tables, owner);
}

/** Sets that a rule looks into. */
export function setsOf(rule: RuleText): readonly string[] {
  return [...rule.matchAll(/--match-set (\S+) /g)].map(([, name]) => name ?? '');
}

const TAKEN_OVER = 'kube-proxy in iptables mode uses it';

/** The whole rule: a remark and the target. */
const JUMP = /^-m comment --comment "(?:kubernetes|kube-proxy) [^"]*" -j \S+$/;

/** kubelet has a chain of that name in table filter. In table nat it dropped what was outside of source ranges, up to about 1.24. */
function isOldFirewall(table: string, chain: string, rules: readonly RuleText[]): boolean {
  if (table !== 'nat' || chain !== 'KUBE-FIREWALL') return false;
  return rules.some(namesOwnSet) && rules.every((rule) => namesOwnSet(rule) || rule === '-j KUBE-MARK-DROP');
}

function namesOwnSet(rule: RuleText): boolean {
  return setsOf(rule).some((name) => ALL_SETS.has(name));
}
