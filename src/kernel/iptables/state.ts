/** Tables that we write, in the order in which they are written. */
export const TABLES = ['nat', 'filter'] as const;

export type TableName = (typeof TABLES)[number];

/** A rule without its chain, as `ip[6]tables-save` prints it. */
export type RuleText = string;

/** A rule in a built-in chain that leads to a chain of ours. */
export interface Jump {
  readonly from: string;
  readonly rule: RuleText;
  /** `last`: what others have in the chain already comes before it. */
  readonly place: 'first' | 'last';
}

/** What we want of one table. */
export interface WantedTable {
  /** Our chains with their rules, both in order. */
  readonly chains: ReadonlyMap<string, readonly RuleText[]>;
  /** In the order in which they are inserted: of those placed first, the last one ends up first. */
  readonly jumps: readonly Jump[];
  /** Chains that are ours and not wanted. */
  readonly obsolete: readonly string[];
}

export type WantedTables = Readonly<Record<TableName, WantedTable>>;

/** Every chain of a table as read, foreign ones too: its rules in order. */
export type ReadTable = ReadonlyMap<string, readonly RuleText[]>;

export type ReadTables = Readonly<Record<TableName, ReadTable>>;

/** Tables as read, by name, those that we do not write too. */
export type EveryTable = ReadonlyMap<string, ReadTable>;
