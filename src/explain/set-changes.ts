import type { IpSet, IpsetState } from '../kernel/ipset/state.ts';
import type { Belongings } from './belongings.ts';
import type { Change } from './change.ts';

type SetChange = Omit<Change, 'tool' | 'family'>;

/** What differs between sets as they are and as a pass leaves them: sets in the order of their names, each followed by its entries. */
export function setChanges(observed: IpsetState, after: IpsetState, owned: Belongings): readonly SetChange[] {
  const names = [...new Set([...observed.keys(), ...after.keys()])].sort();
  return names.flatMap((name): readonly SetChange[] => {
    const [before, now] = [observed.get(name), after.get(name)];
    if (before === now) return [];
    const thing = `set ${name}`;
    if (!now) return [{ action: 'remove', thing, services: [], why: 'it is not used' }];
    if (!before) return [{ action: 'add', thing, services: [], why: '' }, ...entryChanges(undefined, now, owned)];
    const why = parameterDifferences(before, now);
    const own: readonly SetChange[] = why === '' ? [] : [{ action: 'change', thing, services: [], why }];
    return [...own, ...entryChanges(before, now, owned)];
  });
}

function entryChanges(before: IpSet | undefined, now: IpSet, owned: Belongings): readonly SetChange[] {
  const old = before?.entries ?? new Set();
  const thing = (entry: string) => `entry ${entry} of set ${now.name}`;
  return [...old.symmetricDifference(now.entries)].sort().map((entry) => {
    const services = owned.ofEntry(now.name, entry);
    return now.entries.has(entry)
      ? { action: 'add', thing: thing(entry), services, why: '' }
      : { action: 'remove', thing: thing(entry), services, why: 'nothing needs it' };
  });
}

function parameterDifferences(before: IpSet, now: IpSet): string {
  const fields = [
    ['type', before.type, now.type],
    ['family', before.family ?? 'none', now.family ?? 'none'],
    ['size', `${before.maxEntries ?? 'fixed'}`, `${now.maxEntries ?? 'fixed'}`],
    ['options', before.oddities.join(', ') || 'none', now.oddities.join(', ') || 'none'],
  ] as const;
  return fields
    .filter(([, old, wanted]) => old !== wanted)
    .map(([name, old, wanted]) => `${name} ${old} → ${wanted}`)
    .join(', ');
}
