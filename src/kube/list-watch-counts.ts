/** Why a resource was listed again. */
export type RelistReason =
  /** The version to go on from is gone. */
  | 'expired'
  /** What came was no watch, or no list. */
  | 'malformed';

/** What a list-watch has done since its start, for metrics. */
export interface ListWatchCounts {
  /** Complete ones. */
  readonly lists: number;
  /** Accepted ones. */
  readonly watches: number;
  readonly relists: Readonly<Record<RelistReason, number>>;
  /** Objects whose deletion was not seen, and which a later list did not have any more. */
  readonly missedDeletions: number;
  /** When the server was last heard of, be it by a list, an event or a bookmark; by the clock in use. */
  readonly lastHeardMs: number | undefined;
}

export const NO_COUNTS: ListWatchCounts = {
  lists: 0,
  watches: 0,
  relists: { expired: 0, malformed: 0 },
  missedDeletions: 0,
  lastHeardMs: undefined,
};
