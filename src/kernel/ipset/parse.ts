import { parseIpAddress } from '../../net/ip-address.ts';
import type { IpSet, IpsetState, SetEntry } from './state.ts';

/**
 * Reads what `ipset save` prints, or `renderIpsetState`. Entries come out as `ipset save` writes them, with protocol names;
 * options that change nothing for us (hash size, counters, …) are passed over. A line of any other form gives `undefined`.
 */
export function parseIpsetSave(text: string): IpsetState | undefined {
  const sets = new Map<string, ReadSet>();
  for (const line of text.split('\n')) {
    const [command, name = '', ...words] = line.split(' ');
    if (command === '') continue;
    if (command === 'create') {
      sets.set(name, readSet(name, words));
    } else if (command === 'add' && words[0] !== undefined && sets.has(name)) {
      const set = sets.get(name);
      set?.entries.add(nameProtocol(canonical(words[0])));
      if (words.includes('nomatch') && !set?.oddities.includes('nomatch')) set?.oddities.push('nomatch');
    } else {
      return undefined;
    }
  }
  return sets;
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
