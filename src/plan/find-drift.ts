import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import { diffIptables } from '../kernel/iptables/diff.ts';
import type { ReadTables, WantedTables } from '../kernel/iptables/state.ts';
import { type VirtualServer, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';

/** What a look at the kernel sees of one family, which is little. */
export interface Peek {
  readonly tables: ReadTables;
  /** Entries by the name of the set. */
  readonly setSizes: ReadonlyMap<string, number>;
  /** The virtual server that was looked for, when it is not there. */
  readonly lostServer: VirtualServer | undefined;
  readonly hasInterface: boolean;
}

/**
 * What somebody else must have done to our things since the kernel was known; one sentence a thing, none when all is well. It sees whole
 * tables, sets and interfaces that were emptied or taken away, not each change.
 */
export function findDrift(
  { sets }: Pick<ObservedState, 'sets'>,
  wanted: { readonly sets: Iterable<string>; readonly tables: WantedTables },
  peek: Peek,
): readonly string[] {
  const rules = diffIptables(peek.tables, wanted.tables).map(
    ({ table, differing }) => `rules of ${differing.join(', ')} in table ${table}`,
  );
  const changedSets = [...wanted.sets].filter((name) => peek.setSizes.get(name) !== sets.get(name)?.entries.size);
  return [
    ...rules,
    ...changedSets.map((name) => `set ${name}`),
    ...(peek.lostServer ? [`virtual server ${virtualServerKey(peek.lostServer)}`] : []),
    ...(peek.hasInterface ? [] : [`interface ${DUMMY_INTERFACE}`]),
  ];
}
