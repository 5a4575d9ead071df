import { type ReadTables, type RuleText, TABLES, type WantedTables } from '../kernel/iptables/state.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import { frontendsNamedIn, keyInRules } from './closed-frontends.ts';

/** Whom it concerns that rules lack. */
export interface LackingRules {
  /** Sets for whose entries they do something. */
  readonly sets: ReadonlySet<string>;
  /** Tells the virtual servers that they name. */
  readonly isAbout: (server: VirtualServer) => boolean;
}

/**
 * Wanted rules that keep out or masquerade and that are not in force: they do not stand in their chain, or a jump into our chains of the table
 * is missing. What masquerades for a set does so too where it tells clients apart in another way, unless it is for the node alone.
 */
export function lackingRules(wanted: WantedTables, present: ReadTables): LackingRules {
  const lacking = TABLES.flatMap((table) => {
    const { chains, jumps } = wanted[table];
    const standing = present[table];
    const isEntered = jumps.every(({ from, rule, place }) => place === 'last' || standing.get(from)?.includes(rule));
    return [...chains].flatMap(([chain, rules]) =>
      rules.filter((rule) => GUARD.test(rule) && !(isEntered && stands(rule, standing.get(chain) ?? []))),
    );
  });
  const frontends = frontendsNamedIn(lacking);
  return {
    sets: new Set(lacking.flatMap((rule) => setOf(rule) ?? [])),
    isAbout: (server) => frontends.has(keyInRules(server)),
  };
}

/** It drops, masquerades, or leads to where that is done. */
const GUARD = /(--match-set|--vaddr) .* -j (DROP|KUBE-MARK-MASQ|KUBE-SOURCE-RANGES-FIREWALL|KUBE-LOAD-BALANCER)$/;
const MASQUERADING = / -j (KUBE-MARK-MASQ|KUBE-LOAD-BALANCER)$/;
/** The node calls from the frontend, so that without a detector only its own connections are masqueraded. */
const OF_NODE_ONLY = /--match-set \S+ src,dst /;

function stands(rule: RuleText, present: readonly RuleText[]): boolean {
  if (present.includes(rule)) return true;
  const set = MASQUERADING.test(rule) ? setOf(rule) : undefined;
  return (
    set !== undefined &&
    present.some((other) => MASQUERADING.test(other) && setOf(other) === set && !OF_NODE_ONLY.test(other))
  );
}

function setOf(rule: RuleText): string | undefined {
  return /--match-set (\S+) /.exec(rule)?.[1];
}
