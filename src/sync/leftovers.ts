import { describeRefused, type Refused, type Said } from '../plan/refused.ts';

/** Something that nobody wants any more, and that the kernel does not let go of. */
export interface Leftover extends Said {
  /** How often it was tried in vain. */
  readonly tries: number;
  /** Passes that leave it until it is tried again; a full one tries it in any case. */
  readonly waits: number;
}

/**
 * What is left after a pass that has left some of it alone, and was refused these things of nobody. The next two passes try it again, and
 * then every second, fourth, … of them, as each try costs a reading.
 */
export function leftoversAfter(
  before: readonly Leftover[],
  isHeldBack: (thing: Refused) => boolean,
  refused: readonly Said[],
): readonly Leftover[] {
  const known = new Map(before.map((each) => [describeRefused(each.refused), each]));
  const waiting = before.filter(({ refused: thing }) => isHeldBack(thing));
  return [
    ...waiting.map((each) => ({ ...each, waits: each.waits - 1 })),
    ...refused.map((each) => {
      const tries = (known.get(describeRefused(each.refused))?.tries ?? 0) + 1;
      return { ...each, tries, waits: Math.floor(Math.min(MOST_PASSES, 2 ** (tries - 2))) - (tries < 2 ? 0 : 1) };
    }),
  ];
}

const MOST_PASSES = 64;
