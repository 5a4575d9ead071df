import { ownSets } from '../../../src/kernel/ipset/definitions.ts';
import { numbered } from './others.ts';

/** Sets that may stand in for the one given while it is made anew. */
export function standInsOf(set: string): readonly string[] {
  return ownSets(set.startsWith('KUBE-6-') ? 'IPv6' : 'IPv4').standIns;
}

/**
 * True when a refused line of `ipset` keeps the set from being exchanged for a larger one, so that no more may go in. `entries`: lines of
 * what was in it, is in it or is to be in it, which its stand-in is filled with.
 */
export function preventsExchange(line: string, set: string, entries: Iterable<string>): boolean {
  return standInsOf(set).some((standIn) => {
    if (line === `swap ${set} ${standIn}` || line === `destroy ${standIn}`) return true;
    if (line.startsWith(`create ${standIn} `)) return true;
    const [start, own] = [`add ${standIn} `, `add ${set} `];
    if (!line.startsWith(start)) return false;
    const refused = line.slice(start.length);
    return Iterator.from(entries).some((each) => each.startsWith(own) && numbered(each.slice(own.length)) === refused);
  });
}
