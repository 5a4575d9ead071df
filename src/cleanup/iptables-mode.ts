import type { EveryTable } from '../kernel/iptables/state.ts';
import { isBuiltInChain, isIptablesModeChain, isSharedChain } from './chain-names.ts';
import { type Owner, removeFromTables, type TablesRemoval } from './table-removal.ts';

/**
 * What kube-proxy in iptables mode made in the tables of one family. `inUse`: ipvs mode programs this family, so the chains that both
 * modes have, and what leads to them there, are its own.
 */
export function removeIptablesMode(tables: EveryTable, inUse: boolean): TablesRemoval {
  const isInUse = (table: string, chain: string) => inUse && isSharedChain(table, chain);
  const owner: Owner = {
    isOwnChain: isIptablesModeChain,
    staysBecause: (table, chain) => (isInUse(table, chain) ? 'ipvs mode uses it' : undefined),
    isOwnJump: ({ table, chain, rule }, target) =>
      isBuiltInChain(chain) ? JUMP.test(rule) : isInUse(table, chain) && !isSharedChain(table, target),
    isOwnRule: ({ chain, rule }) => inUse && isBuiltInChain(chain) && FIREWALL_JUMP.test(rule),
  };
  return removeFromTables(tables, owner);
}

/** The whole rule: a remark and the target, for new connections only or for all. */
const JUMP = /^(?:-m conntrack --ctstate NEW )?-m comment --comment "kubernetes [^"]*" -j \S+$/;

/** Leads to a chain of both modes from places where ipvs mode does not look into it. */
const FIREWALL_JUMP =
  /^-m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL$/;
