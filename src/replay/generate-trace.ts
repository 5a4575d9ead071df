import { CHANGE_SORTS, type ChangeSort, type GenerateSpec } from './generate-spec.ts';
import { GeneratedCluster } from './generated-cluster.ts';
import { type Random, seededRandom } from './random.ts';
import type { TraceEvent } from './trace-event.ts';

/** The trace of a spec: all objects at 0, then changes, one in each equal part of the time. The same spec gives the same trace. */
export function* generateTrace(spec: GenerateSpec): Generator<TraceEvent> {
  const random = seededRandom(spec.seed);
  const cluster = new GeneratedCluster(spec.slices, spec.endpoints, random);
  yield* cluster.first();
  const changes = Math.round(spec.changesPerSecond * spec.seconds);
  for (let number = 0; number < changes; number += 1) {
    const atMs = Math.ceil(((number + random()) * 1000) / spec.changesPerSecond);
    yield cluster[chooseSort(spec.mix, random)](atMs);
  }
}

/** In pieces, as a trace that is read comes. */
export async function* generatePieces(spec: GenerateSpec): AsyncGenerator<readonly TraceEvent[]> {
  let piece: TraceEvent[] = [];
  for (const event of generateTrace(spec)) {
    piece.push(event);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}

const PIECE = 1_000;

function chooseSort(mix: GenerateSpec['mix'], random: Random): ChangeSort {
  const sum = CHANGE_SORTS.reduce((total, sort) => total + mix[sort], 0);
  let left = random() * sum;
  for (const sort of CHANGE_SORTS) {
    left -= mix[sort];
    if (left < 0) return sort;
  }
  return CHANGE_SORTS.findLast((sort) => mix[sort] > 0) ?? 'noise';
}
