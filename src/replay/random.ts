/** Gives 0 ≤ x < 1. */
export type Random = () => number;

/**
 * Numbers that look random and are the same for the same seed, on every machine.
 *
 * Source: mulberry32, github.com/bryc/code (public domain)
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0 up to, but not including, `below`. */
export function pickNumber(random: Random, below: number): number {
  return Math.floor(random() * below);
}
