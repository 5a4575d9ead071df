import type { ToolAnswer } from './memory-ipvs.ts';

interface MemorySet {
  readonly parameters: string;
  readonly type: string;
  readonly limit: number;
  readonly entries: Set<string>;
}

const HASH = /^(hash:(?:ip|ip,port|ip,port,ip|ip,port,net)) family (inet6?) hashsize \d+ maxelem (\d+)$/;
const BITMAP = /^(bitmap:port) range 0-65535$/;
const IPV4 = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;
const IPV6 = '[0-9a-f:]*:[0-9a-f:]*';
const PROTOCOL_PORT = String.raw`(?:6|17|132):\d{1,5}`;
const NAMES: Readonly<Record<string, string>> = { '6:': 'tcp:', '17:': 'udp:', '132:': 'sctp:' };

/** The sets, programmed by lines of `ipset restore` or of `ipset -` and by nothing else; the first stops at the first line that is refused. */
export class MemoryIpsets {
  readonly #sets = new Map<string, MemorySet>();
  readonly #isNamed: (name: string) => boolean;

  /** `isNamed`: a rule names the set, which keeps it from being destroyed. */
  constructor(isNamed: (name: string) => boolean = () => false) {
    this.#isNamed = isNamed;
  }

  restore(script: string): ToolAnswer {
    for (const [index, line] of script.split('\n').entries()) {
      if (line === '') continue;
      const refusal = this.#runLine(line);
      if (refusal !== undefined) {
        return { stderr: `ipset v7.17: Error in line ${index + 1}: ${refusal}: ${line}\n`, exitCode: 1 };
      }
    }
    return { stderr: '', exitCode: 0 };
  }

  /** Lines as somebody would type them: goes on after one that is refused, and its status is 0. */
  type(script: string): ToolAnswer {
    const refusals = script.split('\n').map((line) => (line === '' ? undefined : this.#runLine(line)));
    return {
      stderr: refusals.map((text) => (text === undefined ? '' : `ipset v7.17: ${text}\n`)).join(''),
      exitCode: 0,
    };
  }

  /** As `ipset save` prints it. */
  save(): string {
    return [...this.#sets]
      .map(([name, { parameters, entries }]) => {
        return `create ${name} ${parameters}\n${[...entries].map((entry) => `add ${name} ${entry}\n`).join('')}`;
      })
      .join('');
  }

  /** As `ipset list -t` prints it. */
  sizes(): string {
    const blocks = [...this.#sets].map(
      ([name, { type, entries }]) => `Name: ${name}\nType: ${type}\nNumber of entries: ${entries.size}\n`,
    );
    return blocks.join('\n');
  }

  has(name: string): boolean {
    return this.#sets.has(name);
  }

  /** An `-exist` option would hide a double addition or a needless deletion; here they are refused. */
  #runLine(line: string): string | undefined {
    const [command, name = '', ...words] = line.split(' ');
    if (command === 'create') return this.#create(name, words.join(' '));
    const set = this.#sets.get(name);
    if (!set) return 'The set with the given name does not exist';
    if (command === 'destroy') return this.#destroy(name, words);
    if (command === 'flush') {
      set.entries.clear();
      return undefined;
    }
    const [entry = '', ...rest] = words;
    if (rest.length > 0) return 'unknown argument';
    if (command === 'swap') return this.#swap(name, entry);
    if (command !== 'add' && command !== 'del') return 'unknown command';
    if (!entryPattern(set).test(entry)) return 'Syntax error in entry';
    const named = entry.replace(/(?<=,)(6|17|132):/, (number) => NAMES[number] ?? number);
    if (command === 'add') return this.#add(set, named);
    return set.entries.delete(named) ? undefined : "Element cannot be deleted from the set: it's not added";
  }

  #create(name: string, parameters: string): string | undefined {
    const match = HASH.exec(parameters) ?? BITMAP.exec(parameters);
    if (!match) return 'unknown type or option';
    if (name.length > 31) return 'setname is longer than 31 characters';
    if (this.#sets.has(name)) return 'set with the same name already exists';
    this.#sets.set(name, {
      parameters,
      type: `${match[1]} ${match[2] ?? ''}`.trim(),
      limit: Number(match[3] ?? 65536),
      entries: new Set(),
    });
    return undefined;
  }

  #destroy(name: string, words: readonly string[]): string | undefined {
    if (words.length > 0) return 'unknown argument';
    if (this.#isNamed(name)) return 'Set cannot be destroyed: it is in use by a kernel component';
    this.#sets.delete(name);
    return undefined;
  }

  #swap(name: string, other: string): string | undefined {
    const [first, second] = [this.#sets.get(name), this.#sets.get(other)];
    if (!first || !second) return 'Sets cannot be swapped: the second set does not exist';
    if (first.type !== second.type) return 'The sets cannot be swapped: their type does not match';
    this.#sets.set(name, second).set(other, first);
    return undefined;
  }

  #add(set: MemorySet, entry: string): string | undefined {
    if (set.entries.has(entry)) return "Element cannot be added to the set: it's already added";
    if (set.entries.size >= set.limit) return 'Hash is full, cannot add more elements';
    set.entries.add(entry);
    return undefined;
  }
}

function entryPattern({ type }: MemorySet): RegExp {
  const [kind, family] = type.split(' ');
  const ip = family === 'inet6' ? IPV6 : IPV4;
  const patterns: Readonly<Record<string, string>> = {
    'bitmap:port': String.raw`\d{1,5}`,
    'hash:ip': ip,
    'hash:ip,port': `${ip},${PROTOCOL_PORT}`,
    'hash:ip,port,ip': `${ip},${PROTOCOL_PORT},${ip}`,
    'hash:ip,port,net': String.raw`${ip},${PROTOCOL_PORT},${ip}(?:/[1-9]\d*)?`,
  };
  return new RegExp(`^${patterns[kind ?? '']}$`);
}
