import type { ToolAnswer } from './memory-ipvs.ts';

type Chains = Map<string, string[]>;

const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
};
const TARGETS = ['ACCEPT', 'RETURN', 'DROP', 'REJECT', 'MASQUERADE', 'MARK'];

/** iptables of one family, programmed by input of `iptables-restore --noflush` and by nothing else; a table is taken as a whole or not at all. */
export class MemoryTables {
  readonly #tables = new Map<string, Chains>(
    Object.entries(BUILT_IN).map(([table, chains]) => [table, new Map(chains.map((chain) => [chain, []]))]),
  );
  readonly #hasSet: (name: string) => boolean;

  constructor(hasSet: (name: string) => boolean) {
    this.#hasSet = hasSet;
  }

  restore(script: string): ToolAnswer {
    let table: string | undefined;
    let chains: Chains = new Map();
    for (const [index, line] of script.split('\n').entries()) {
      if (line === '') continue;
      if (line.startsWith('*')) {
        table = line.slice(1);
        chains = new Map([...(this.#tables.get(table) ?? [])].map(([name, rules]) => [name, [...rules]]));
      } else if (line === 'COMMIT' && table !== undefined) {
        this.#tables.set(table, chains);
        table = undefined;
      } else {
        const refusal = table === undefined ? 'no table' : this.#runLine(line, chains);
        if (refusal !== undefined)
          return { stderr: `iptables-restore: line ${index + 1} failed: ${refusal}: ${line}\n`, exitCode: 2 };
      }
    }
    return table === undefined ? { stderr: '', exitCode: 0 } : { stderr: 'COMMIT expected\n', exitCode: 1 };
  }

  /** Whether some rule names the set. */
  names(set: string): boolean {
    const rules = [...this.#tables.values()].flatMap((chains) => [...chains.values()].flat());
    return rules.some((rule) => rule.includes(`--match-set ${set} `));
  }

  /** As `iptables-save` prints it. */
  save(): string {
    return [...this.#tables]
      .map(([table, chains]) => {
        const heads = [...chains.keys()].map(
          (name) => `:${name} ${BUILT_IN[table]?.includes(name) ? 'ACCEPT' : '-'} [0:0]\n`,
        );
        const rules = [...chains].flatMap(([name, list]) => list.map((rule) => `-A ${name} ${rule}\n`));
        return `# Generated\n*${table}\n${heads.join('')}${rules.join('')}COMMIT\n# Completed\n`;
      })
      .join('');
  }

  #runLine(line: string, chains: Chains): string | undefined {
    const head = /^:(\S+) - \[0:0\]$/.exec(line)?.[1];
    if (head !== undefined) {
      if (head.length > 28) return 'chain name too long';
      chains.set(head, []);
      return undefined;
    }
    const removed = /^-X (\S+)$/.exec(line)?.[1];
    if (removed !== undefined) return removeChain(removed, chains);
    const [, command, chain = '', rule = ''] = /^(-A|-I|-D) (\S+) (.+)$/.exec(line) ?? [];
    const rules = chains.get(chain);
    if (command === undefined || !rules) return 'no such chain or command';
    const target = / ?-j (\S+)/.exec(rule)?.[1] ?? '';
    if (!TARGETS.includes(target) && !chains.has(target)) return `no chain or target ${target}`;
    for (const [, set = ''] of rule.matchAll(/--match-set (\S+) /g)) if (!this.#hasSet(set)) return `no set ${set}`;
    if (command === '-D' && !rules.includes(rule)) return 'no such rule';
    if (command === '-D') rules.splice(rules.indexOf(rule), 1);
    else if (command === '-A') rules.push(rule);
    else rules.unshift(rule);
    return undefined;
  }
}

function removeChain(name: string, chains: Chains): string | undefined {
  if (!chains.has(name)) return 'no such chain';
  if (chains.get(name)?.length !== 0) return 'chain is not empty';
  if ([...chains.values()].some((rules) => rules.some((rule) => rule.endsWith(`-j ${name}`)))) return 'chain is in use';
  chains.delete(name);
  return undefined;
}
