import type { NodeFacts, RuleBackEnd } from './facts.ts';

/** The back end of the `iptables` on PATH, which is the one that the daemon uses; `undefined` when it does not tell. */
export function ownBackEnd({ tools }: Pick<NodeFacts, 'tools'>): RuleBackEnd | undefined {
  const answer = tools.get('iptables');
  if (answer?.kind !== 'version') return undefined;
  return answer.text.includes('nf_tables') ? 'nft' : 'legacy';
}

export function otherBackEnd(backEnd: RuleBackEnd): RuleBackEnd {
  return backEnd === 'nft' ? 'legacy' : 'nft';
}
