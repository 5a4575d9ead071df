export interface MeasureBounds {
  /** Calls before anything counts, so that the functions on the way have been compiled; fewer when they take long. */
  readonly warmUp: number;
  readonly samples: number;
}

/** What a sample takes at least, as the kernel counts processor time in steps of milliseconds. */
const SAMPLE_MS = 80;

/** A benchmark has so many samples by then, or goes on until it has {@link LEAST_SAMPLES}. */
const BUDGET_MS = 8_000;

const LEAST_SAMPLES = 3;

const WARM_UP_BUDGET_MS = 3_000;

/** Of this thread, since it started. It does not tell of time that others had, nor of threads that compile and collect garbage meanwhile. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Milliseconds of processor time that each of several kinds of work takes, by its place in the list: one sample is the mean of many calls. All
 * kinds take turns, so that the machine's load weighs on all.
 */
export async function measureInTurn(
  works: readonly (() => Promise<unknown> | unknown)[],
  { warmUp, samples }: MeasureBounds,
): Promise<readonly (readonly number[])[]> {
  const startMs = performance.now();
  for (let index = 0; index < warmUp && performance.now() - startMs < WARM_UP_BUDGET_MS; index += 1) {
    for (const work of works) await work();
  }
  collectGarbage();
  const measuringMs = performance.now();
  const taken = works.map((): number[] => []);
  for (let round = 0; round < samples; round += 1) {
    if (round >= LEAST_SAMPLES && performance.now() - measuringMs > BUDGET_MS) break;
    for (const [index, work] of works.entries()) taken[index]?.push(await sampleOf(work));
  }
  return taken;
}

/** The same for one kind of work. */
export async function measure(
  work: () => Promise<unknown> | unknown,
  bounds: MeasureBounds,
): Promise<readonly number[]> {
  const [samples = []] = await measureInTurn([work], bounds);
  return samples;
}

async function sampleOf(work: () => Promise<unknown> | unknown): Promise<number> {
  const startMs = processorMs();
  let calls = 0;
  let tookMs = 0;
  while (tookMs < SAMPLE_MS) {
    await work();
    calls += 1;
    tookMs = processorMs() - startMs;
  }
  return tookMs / calls;
}

/** Collects all garbage, so that what follows does not pay for what was before. Needs `--expose-gc`. */
export function collectGarbage(): void {
  globalThis.gc?.();
}
