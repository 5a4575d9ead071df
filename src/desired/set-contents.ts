import { type SetDefinition, type SetId, setName } from '../kernel/ipset/definitions.ts';
import { emptySets, type IpSet, type IpsetState, maxEntriesFor, type SetEntry } from '../kernel/ipset/state.ts';
import type { Family } from '../net/family.ts';
import { CountedSet } from './counted-set.ts';
import type { PartEntry } from './frontends.ts';

/** The sets of one family with what service ports put into them. Entries for sets that are not wanted are passed over. */
export class SetContents {
  readonly #states: Map<string, IpSet>;
  readonly #counted = new Map<SetId, { readonly name: string; readonly entries: CountedSet<SetEntry> }>();
  readonly #touched: (entry: SetEntry) => void;
  /** Entries that each hash has room for at least. */
  readonly #room: number;

  /** `touched` hears of every entry that came or went. */
  constructor(
    family: Family,
    { definitions, room }: { readonly definitions: readonly SetDefinition[]; readonly room: number },
    touched: (entry: SetEntry) => void,
  ) {
    this.#states = emptySets(family, definitions, room);
    this.#room = room;
    this.#touched = touched;
    for (const { id } of definitions) {
      const name = setName(id, family);
      const set = this.#states.get(name);
      const entries = new CountedSet<SetEntry>();
      if (set) this.#states.set(name, { ...set, entries: entries.values });
      this.#counted.set(id, { name, entries });
    }
  }

  /** Live: later calls change it. Each set is large enough for its entries. */
  get states(): IpsetState {
    return this.#states;
  }

  add([id, entry]: PartEntry): void {
    const set = this.#counted.get(id);
    if (set?.entries.add(entry)) this.#changed(set.name, entry);
  }

  remove([id, entry]: PartEntry): void {
    const set = this.#counted.get(id);
    if (set?.entries.remove(entry)) this.#changed(set.name, entry);
  }

  #changed(name: string, entry: SetEntry): void {
    this.#touched(entry);
    const set = this.#states.get(name);
    if (set?.maxEntries === undefined) return;
    const maxEntries = maxEntriesFor(set.entries.size, this.#room);
    if (maxEntries !== set.maxEntries) this.#states.set(name, { ...set, maxEntries });
  }
}
