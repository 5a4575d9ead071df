import { type Figure, type Goal, median } from './figure.ts';

/** A benchmark inside the lab, against the bare tools. */
export interface LabBench {
  readonly name: string;
  readonly title: string;
  /** Number of Services or entries. */
  readonly size: number;
  run(size: number): Promise<readonly Figure[]>;
}

/** Pairs of one measurement each, taken in turn, every other pair the other way round. */
export async function inTurn(
  pairs: number,
  ours: (pair: number) => Promise<number> | number,
  bare: (pair: number) => Promise<number> | number,
): Promise<{ readonly ours: readonly number[]; readonly bare: readonly number[] }> {
  const taken = { ours: [] as number[], bare: [] as number[] };
  for (let pair = 0; pair < pairs; pair += 1) {
    const turns = [async () => taken.ours.push(await ours(pair)), async () => taken.bare.push(await bare(pair))];
    for (const turn of pair % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  return taken;
}

/** The ratio pair by pair, then both sides in milliseconds by the clock. On a loaded machine the fastest of each tell most. */
export function ratioFigures(
  names: { readonly ours: string; readonly bare: string },
  { ours, bare }: { readonly ours: readonly number[]; readonly bare: readonly number[] },
  goal?: Goal,
): readonly Figure[] {
  const samples = ours.map((ms, index) => ms / (bare[index] ?? Number.NaN));
  return [
    { what: `${names.ours} ÷ ${names.bare}`, unit: '×', samples, ...(goal ? { goal } : {}) },
    { what: `${names.ours}, by the clock`, unit: 'ms', samples: ours },
    { what: `${names.bare}, by the clock`, unit: 'ms', samples: bare },
    { what: 'ratio of the medians', unit: '×', samples: [median(ours) / median(bare)] },
    { what: 'ratio of the fastest of each', unit: '×', samples: [Math.min(...ours) / Math.min(...bare)] },
  ];
}

export function atMost(times: number): Goal {
  return { atMost: times, at: 'every size' };
}
