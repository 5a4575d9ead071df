import type { NodeState } from './kernel-state.ts';

/** A state as lines, sorted, each of them once: a rule has its number within its chain. */
export function linesOfState({ ipvs, boundAddresses, sets, iptables, ip6tables }: NodeState): readonly string[] {
  return [
    ...ipvs.map((line) => `ipvs ${line}`),
    ...(boundAddresses === undefined ? [] : ['interface', ...boundAddresses.map((address) => `address ${address}`)]),
    ...[...sets].flatMap(([name, entries]) => [`set ${name}`, ...entries.map((entry) => `set ${name} ${entry}`)]),
    ...numbered('iptables', iptables),
    ...numbered('ip6tables', ip6tables),
  ].sort();
}

/** What stands in one of them only: `+` in the first, `-` in the second. */
export function differences(present: readonly string[], wanted: readonly string[]): readonly string[] {
  return [
    ...present.filter((line) => !wanted.includes(line)).map((line) => `+ ${line}`),
    ...wanted.filter((line) => !present.includes(line)).map((line) => `- ${line}`),
  ];
}

function numbered(tool: string, text: string): readonly string[] {
  const counts = new Map<string, number>();
  let table = '';
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('*')) table = line;
    if (line.startsWith(':')) return [`${tool} ${table} ${line}`];
    const [, chain = '', rule = ''] = /^-A (\S+) (.*)$/.exec(line) ?? [];
    if (chain === '') return [];
    const place = `${tool} ${table} ${chain}`;
    const count = (counts.get(place) ?? 0) + 1;
    counts.set(place, count);
    return [`${place} ${count} ${rule}`];
  });
}
