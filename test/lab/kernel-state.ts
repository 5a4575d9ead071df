import type { Lab } from './lab.ts';

/** What a proxy programs in one namespace, made comparable: sorted where order means nothing, without counters and dates. */
export interface NodeState {
  /** Lines of `ipvsadm -Sn`, sorted. */
  readonly ipvs: readonly string[];
  /** Addresses on kube-ipvs0 with their prefix lengths, sorted; undefined when there is no such interface. */
  readonly boundAddresses: readonly string[] | undefined;
  /** Entries by set, each sorted; a set without entries has an empty list. */
  readonly sets: ReadonlyMap<string, readonly string[]>;
  /** Text of `iptables-save`, with rules in their order. */
  readonly iptables: string;
  readonly ip6tables: string;
}

/** Reads all of it; throws when a tool fails. */
export async function readNodeState(lab: Lab, namespace: string): Promise<NodeState> {
  const [ipvs, addresses, sets, iptables, ip6tables] = await Promise.all([
    readVirtualServers(lab, namespace),
    readBoundAddresses(lab, namespace),
    readSets(lab, namespace),
    lab.output(namespace, 'iptables-save'),
    lab.output(namespace, 'ip6tables-save'),
  ]);
  const rules = { iptables: cleanRules(iptables), ip6tables: cleanRules(ip6tables) };
  return { ipvs, boundAddresses: addresses, sets, ...rules };
}

export async function readVirtualServers(lab: Lab, namespace: string): Promise<readonly string[]> {
  return sortedLines(await lab.output(namespace, 'ipvsadm', ['-Sn']));
}

export async function readBoundAddresses(lab: Lab, namespace: string): Promise<readonly string[] | undefined> {
  const { stdout, exitCode } = await lab.run(namespace, 'ip', ['-o', 'address', 'show', 'dev', 'kube-ipvs0']);
  return exitCode === 0 ? parseAddresses(stdout) : undefined;
}

export async function readSets(lab: Lab, namespace: string): Promise<NodeState['sets']> {
  return parseSets(await lab.output(namespace, 'ipset', ['save']));
}

export function sortedLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .sort();
}

/** From `ip -o address show`; link-local addresses are left out, as nobody asked for them. */
export function parseAddresses(text: string): readonly string[] {
  const found = [...text.matchAll(/\sinet6? (\S+) (?!.*scope link)/g)].map(([, address]) => address ?? '');
  return found.map((address) => (address.includes('/') ? address : `${address}/32`)).sort();
}

/** From `ipset save`. */
export function parseSets(text: string): ReadonlyMap<string, readonly string[]> {
  const sets = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [verb, name = '', ...entry] = line.trimEnd().split(' ');
    if (verb === 'create') sets.set(name, []);
    if (verb === 'add') sets.get(name)?.push(entry.join(' '));
  }
  for (const entries of sets.values()) entries.sort();
  return sets;
}

/** A text of iptables-save without comment lines, counters zero. */
export function cleanRules(text: string): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  return lines.map((line) => line.trimEnd().replace(/\[\d+:\d+\]/, '[0:0]')).join('\n');
}
