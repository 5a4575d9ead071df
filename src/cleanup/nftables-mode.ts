import type { Family } from '../net/family.ts';

/**
 * Families whose table kube-proxy in nftables mode has made, from what `nft list tables` prints.
 *
 * Source: kubernetes/kubernetes pkg/proxy/nftables/proxier.go
 */
export function nftablesModeTables(text: string): readonly Family[] {
  const lines = text.split('\n').map((line) => line.trim());
  return (['IPv4', 'IPv6'] as const).filter((family) => lines.includes(`table ${TABLES[family]}`));
}

/** Input of `nft -f -`, which is carried out as a whole or not at all. */
export function renderTableDeletions(families: readonly Family[]): string {
  return families.map((family) => `delete table ${TABLES[family]}\n`).join('');
}

const TABLES: Readonly<Record<Family, string>> = { IPv4: 'ip kube-proxy', IPv6: 'ip6 kube-proxy' };
