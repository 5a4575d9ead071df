import { LEVELS, type Level, moreUrgent } from '../queue/change.ts';
import type { TakenService } from '../queue/queue-entry.ts';
import type { PassKind, PassReport } from './proxier.ts';

export interface PassReading {
  readonly byKind: Readonly<Record<PassKind, number>>;
  readonly failed: number;
  /** Passes that a request of this reason led to; one pass may have several reasons. */
  readonly byReason: Readonly<Record<string, number>>;
  /** By the most urgent Service in the pass; `none` for passes without any. */
  readonly byLevel: Readonly<Record<Level | 'none', number>>;
  /** Services in passes, all together. */
  readonly services: number;
}

/** Counts passes by what they were for. */
export class PassMetrics {
  readonly #byKind: Record<PassKind, number> = { full: 0, normal: 0 };
  readonly #byReason = new Map<string, number>();
  readonly #byLevel = new Map<Level | 'none', number>([...LEVELS, 'none' as const].map((level) => [level, 0]));
  #failed = 0;
  #services = 0;

  ran(
    { kind, reasons, errors }: Pick<PassReport, 'kind' | 'reasons' | 'errors'>,
    taken: readonly TakenService[],
  ): void {
    this.#byKind[kind] += 1;
    if (errors.length > 0) this.#failed += 1;
    for (const reason of new Set(reasons)) this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + 1);
    const [first, ...others] = taken.map(({ level }) => level);
    const level = first === undefined ? 'none' : others.reduce(moreUrgent, first);
    this.#byLevel.set(level, (this.#byLevel.get(level) ?? 0) + 1);
    this.#services += taken.length;
  }

  read(): PassReading {
    return {
      byKind: { ...this.#byKind },
      failed: this.#failed,
      byReason: Object.fromEntries(this.#byReason),
      byLevel: Object.fromEntries(this.#byLevel) as PassReading['byLevel'],
      services: this.#services,
    };
  }
}
