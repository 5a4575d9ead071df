import { diffIptables, emptyTables, type TableChange } from './diff.ts';
import type { WantedTables } from './state.ts';

/** The whole state as input of `ip[6]tables-restore --noflush`, for a node that has nothing of it. */
export function renderTables(tables: WantedTables): string {
  return renderTableChanges(diffIptables(emptyTables(), tables));
}

/**
 * Input of `ip[6]tables-restore --noflush`; `''` for no changes. A `:CHAIN` line makes the chain or flushes it, and a table is
 * exchanged as a whole, so no packet meets a half-written chain.
 */
export function renderTableChanges(changes: readonly TableChange[]): string {
  return changes.map(renderTable).join('');
}

function renderTable({ table, chains, jumps, removedJumps, removedChains }: TableChange): string {
  const lines = [
    `*${table}`,
    ...[...chains.keys(), ...removedChains].map((chain) => `:${chain} - [0:0]`),
    ...removedJumps.map(({ from, rule }) => `-D ${from} ${rule}`),
    ...jumps.map(({ from, rule, place }) => `${place === 'first' ? '-I' : '-A'} ${from} ${rule}`),
    ...[...chains].flatMap(([chain, rules]) => rules.map((rule) => `-A ${chain} ${rule}`)),
    ...removedChains.map((chain) => `-X ${chain}`),
    'COMMIT',
  ];
  return `${lines.join('\n')}\n`;
}
