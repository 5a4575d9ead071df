/**
 * The candidate that a misspelt `word` most likely means: at most two letters off, and at most a third of its length.
 * Letter case does not count. `undefined` when nothing is near.
 */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.min(2, Math.floor(word.length / 3));
  let [best, bestDistance] = [undefined as string | undefined, limit + 1];
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** The candidates, those first that are the fewest letters off; alike ones by name. */
export function nearestFirst(word: string, candidates: readonly string[]): readonly string[] {
  const distances = new Map(candidates.map((each) => [each, editDistance(word.toLowerCase(), each.toLowerCase())]));
  const distance = (candidate: string) => distances.get(candidate) ?? 0;
  return [...candidates].sort((a, b) => distance(a) - distance(b) || (a < b ? -1 : 1));
}

/** Levenshtein distance: letters to insert, delete or replace to turn `from` into `to`. */
export function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = at(previous, column) + (letter === other ? 0 : 1);
      current.push(Math.min(replaced, at(previous, column + 1) + 1, at(current, column) + 1));
    }
    previous = current;
  }
  return at(previous, to.length);
}

function at(distances: readonly number[], index: number): number {
  return distances[index] ?? Number.POSITIVE_INFINITY;
}
