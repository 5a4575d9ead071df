import { parseIpAddress } from '../../net/ip-address.ts';
import type { IpSet, IpsetState, SetEntry } from './state.ts';

/**
 * Reads what `ipset save` prints, or `renderIpsetState`. Entries come out as `ipset save` writes them, with protocol names;
 * options that change nothing for us (hash size, counters, …) are passed over. A line of any other form gives `undefined`.
 */
export function parseIpsetSave(text: string): IpsetState | undefined {
  const sets = new Map<string, ReadSet>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith(ADD)) {
      if (!addEntry(line, sets)) return undefined;
    } else {
      const [command, name = '', ...words] = line.split(' ');
      if (command !== 'create') return undefined;
      sets.set(name, readSet(name, words));
    }
  }
  return sets;
}

const ADD = 'add ';

/** `add NAME ENTRY`, and options if there are any; false for another form, or a set that is not there. There are many: no line is split. */
function addEntry(line: string, sets: ReadonlyMap<string, ReadSet>): boolean {
  const nameEnd = line.indexOf(' ', ADD.length);
  const set = sets.get(line.slice(ADD.length, nameEnd));
  if (nameEnd < 0 || !set) return false;
  const optionsStart = line.indexOf(' ', nameEnd + 1);
  const entry = line.slice(nameEnd + 1, optionsStart < 0 ? undefined : optionsStart);
  set.entries.add(nameProtocol(canonical(entry)));
  if (optionsStart >= 0 && line.split(' ').includes('nomatch') && !set.oddities.includes('nomatch'))
    set.oddities.push('nomatch');
  return true;
}

/** The tool writes an IPv6 address whose first 96 bits are 0 with a dotted end, `::1.2.3.4`; we do not. */
function canonical(entry: string): string {
  if (!entry.includes('::') || !entry.includes('.')) return entry;
  return entry
    .split(',')
    .map((element) => parseIpAddress(element) ?? element)
    .join(',');
}

/** The entry with its protocol as a name, whichever way it is written. */
export function nameProtocol(entry: string): SetEntry {
  const named = entry.replace(
    PROTOCOL_NUMBER,
    (_, address: string, number: keyof typeof NAMES) => `${address}${NAMES[number]}:`,
  );
  return named as SetEntry;
}

type ReadSet = IpSet & { readonly entries: Set<SetEntry>; readonly oddities: string[] };

function readSet(name: string, [type = '', ...options]: readonly string[]): ReadSet {
  const option = (wanted: string) => (options.includes(wanted) ? options[options.indexOf(wanted) + 1] : undefined);
  const oddities = ['timeout', 'netmask', 'bitmask'].flatMap((odd) =>
    options.includes(odd) ? [`${odd} ${option(odd)}`] : [],
  );
  const range = option('range');
  if (type === 'bitmap:port' && range !== '0-65535') oddities.push(`range ${range}`);
  return {
    name,
    type,
    family: option('family') === undefined ? undefined : option('family') === 'inet6' ? 'IPv6' : 'IPv4',
    maxEntries: option('maxelem') === undefined ? undefined : Number(option('maxelem')),
    oddities,
    entries: new Set(),
  };
}

/** The second element only: the third may be an IPv6 network such as `6::/16`. */
const PROTOCOL_NUMBER = /^([^,]*,)(6|17|132):/;
const NAMES = { 6: 'tcp', 17: 'udp', 132: 'sctp' } as const;
