import type { ApiError } from './client-errors.ts';

/** Why a resource was listed again. */
export type RelistReason =
  /** The version to go on from is gone, or, after a trouble with the server, that of another resource is. */
  | 'expired'
  /** What came was no watch, or no list. */
  | 'malformed';

export type FailureKind = Exclude<ApiError['kind'], 'aborted'>;

/** What a list-watch has done since its start, for metrics. */
export interface ListWatchCounts {
  /** Complete ones. */
  readonly lists: number;
  /** Accepted ones. */
  readonly watches: number;
  /** Those of them that went on where one before had ended. */
  readonly restarts: number;
  /** Objects that came by watches; bookmarks are not among them. */
  readonly events: number;
  readonly bookmarks: number;
  readonly relists: Readonly<Record<RelistReason, number>>;
  /** Lists that were not completed, and watches that could not begin or broke off. */
  readonly failures: Readonly<Record<FailureKind, number>>;
  /** Objects whose deletion was not seen, and which a later list did not have any more. */
  readonly missedDeletions: number;
  /** When the server was last heard of, be it by a list, an event or a bookmark; by the clock in use. */
  readonly lastHeardMs: number | undefined;
}

/** Counts what one list-watch does. */
export class ListWatchCounter {
  readonly #nowMs: () => number;
  readonly #counts = { lists: 0, watches: 0, restarts: 0, events: 0, bookmarks: 0, missedDeletions: 0 };
  readonly #relists: Record<RelistReason, number> = { expired: 0, malformed: 0 };
  readonly #failures: Record<FailureKind, number> = { unreachable: 0, refused: 0, malformed: 0 };
  #lastHeardMs: number | undefined;
  #watchedSinceList = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A list was completed, which lacked so many objects whose deletion was not seen. */
  listed(missedDeletions: number): void {
    this.#counts.lists += 1;
    this.#counts.missedDeletions += missedDeletions;
    this.#watchedSinceList = false;
    this.#lastHeardMs = this.#nowMs();
  }

  /** A watch was accepted. */
  watched(): void {
    this.#counts.watches += 1;
    if (this.#watchedSinceList) this.#counts.restarts += 1;
    this.#watchedSinceList = true;
    this.#lastHeardMs = this.#nowMs();
  }

  took(what: 'events' | 'bookmarks'): void {
    this.#counts[what] += 1;
    this.#lastHeardMs = this.#nowMs();
  }

  relists(reason: RelistReason): void {
    this.#relists[reason] += 1;
  }

  failed({ kind }: ApiError): void {
    if (kind !== 'aborted') this.#failures[kind] += 1;
  }

  /** What was done so far; a snapshot. */
  read(): ListWatchCounts {
    const [relists, failures] = [{ ...this.#relists }, { ...this.#failures }];
    return { ...this.#counts, relists, failures, lastHeardMs: this.#lastHeardMs };
  }
}
