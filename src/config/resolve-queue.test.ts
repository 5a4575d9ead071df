import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_QUEUE_SETTINGS, impossibleSettings, type QueueSettings, type RetryPace } from '../queue/settings.ts';
import { errorsOf, fromFile, OWN } from './config-fixture.ts';
import { formatDuration } from './duration.ts';
import type { RawConfig } from './raw-config.ts';

const RUNS = 500;
/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe('config/resolve-queue', () => {
  it("gives the queue's own defaults for a file that sets none", () =>
    expect(fromFile('').queue).to.deep.equal(DEFAULT_QUEUE_SETTINGS));

  describe(`FC_SEED=${SEED}`, () => {
    it('reads back every number of settings that are possible', () =>
      fc.assert(
        fc.property(possible(), (settings) => {
          expect(impossibleSettings(settings)).to.deep.equal([]);
          expect(fromFile(written(settings)).queue).to.deep.equal(settings);
        }),
        { numRuns: RUNS, seed: SEED },
      ));

    it('refuses what is impossible for the queue, and nothing else', () => {
      const seen = { possible: 0, impossible: 0 };
      fc.assert(
        fc.property(oneOrTwoOddities(), (settings) => {
          const isPossible = impossibleSettings(settings).length === 0;
          seen[isPossible ? 'possible' : 'impossible'] += 1;
          expect(errorsOf(written(settings)).length === 0).to.equal(isPossible);
        }),
        { numRuns: RUNS, seed: SEED },
      );
      expect(seen.possible, 'possible').to.be.above(RUNS / 20);
      expect(seen.impossible, 'impossible').to.be.above(RUNS / 20);
    });

    it('names at least the fields that the queue cannot work with, when one group of them is odd', () =>
      fc.assert(
        fc.property(possible(), oddGroup(), (settings, odd) => {
          const given = { ...settings, ...odd };
          const named = errorsOf(written(given)).map(({ field }) => field);
          for (const name of impossibleSettings(given))
            expect(named.some(isPartOf(fieldOf(name))), name).to.equal(true);
        }),
        { numRuns: RUNS, seed: SEED },
      ));
  });
});

/** A file with all numbers of the settings. */
function written({ thresholds, levelDelaysMs, retries, ...others }: QueueSettings): string {
  const queue: RawConfig = {
    thresholds,
    delays: Object.fromEntries(Object.entries(levelDelaysMs).map(([level, ms]) => [level, formatDuration(ms)])),
    batchSize: others.batchSize,
    batchWindow: formatDuration(others.batchWindowMs),
    retries: Object.fromEntries(Object.entries(retries).map(([sort, pace]) => [sort, writtenPace(pace)])),
    retryJitter: others.retryJitterRatio,
    passesPerSecond: others.passesPerSecond,
    passBurst: others.passBurst,
    runnerBurst: others.runnerBurst,
    quarantineAfterFailures: others.quarantineAfterFailures,
  };
  return `${OWN}queue: ${JSON.stringify(queue)}`;
}

function writtenPace(pace: RetryPace): RawConfig {
  if (pace.kind === 'exponential') return { base: formatDuration(pace.baseMs), max: formatDuration(pace.maxMs) };
  return { fast: formatDuration(pace.fastMs), fastTries: pace.fastTries, slow: formatDuration(pace.slowMs) };
}

/** How the file calls what the queue calls so. */
function fieldOf(setting: string): string {
  const renamed = setting.replace('levelDelaysMs', 'delays').replace('batchWindowMs', 'batchWindow');
  return `queue.${renamed.replace('retryJitterRatio', 'retryJitter')}`;
}

function isPartOf(section: string): (field: string) => boolean {
  return (field) => field === section || field.startsWith(`${section}.`);
}

const DAY_MS = 86_400_000;
const ratio = () => fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
const someTimes = () => fc.integer({ min: 1, max: 2 ** 31 - 1 });
const positiveMs = () => fc.integer({ min: 1, max: DAY_MS });

function possible(): fc.Arbitrary<QueueSettings> {
  return fc.record({
    thresholds: thresholdsOf(ratio()),
    levelDelaysMs: fc
      .array(fc.integer({ min: 0, max: DAY_MS }), { minLength: 4, maxLength: 4 })
      .map((delaysMs) => delaysOf(delaysMs.toSorted((a, b) => a - b))),
    batchSize: someTimes(),
    batchWindowMs: fc.integer({ min: 0, max: DAY_MS }),
    retries: fc
      .record({ readiness: rising(), update: rising(), minor: rising() })
      .chain((waits) =>
        fc.record({ fastTries: fc.nat(), minorTries: fc.nat() }).map((tries) => retriesOf(waits, tries)),
      ),
    retryJitterRatio: ratio(),
    passesPerSecond: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
    passBurst: fc.integer({ min: 1, max: 10_000 }),
    runnerBurst: fc.integer({ min: 1, max: 10_000 }),
    quarantineAfterFailures: someTimes(),
  });
}

type Waits = readonly [number, number];

function rising(): fc.Arbitrary<Waits> {
  return fc.tuple(positiveMs(), positiveMs()).map(([a, b]): Waits => (a <= b ? [a, b] : [b, a]));
}

function retriesOf(
  { readiness, update, minor }: Readonly<Record<'readiness' | 'update' | 'minor', Waits>>,
  { fastTries, minorTries }: { readonly fastTries: number; readonly minorTries: number },
): QueueSettings['retries'] {
  return {
    readiness: { kind: 'fast-then-slow', fastMs: readiness[0], fastTries, slowMs: readiness[1] },
    update: { kind: 'exponential', baseMs: update[0], maxMs: update[1] },
    minor: { kind: 'fast-then-slow', fastMs: minor[0], fastTries: minorTries, slowMs: minor[1] },
  };
}

/** One group of settings with values on both sides of their bounds. */
function oddGroup(): fc.Arbitrary<Partial<QueueSettings>> {
  const ms = fc.constantFrom(-1, 0, 0.5, 1, 2, 3, DAY_MS, DAY_MS + 1);
  const count = fc.constantFrom(-1, 0, 1, 2);
  const waits = fc.tuple(ms, ms);
  const oddRatio = fc.constantFrom(-0.01, 0, 0.5, 1, 1.01);
  const delays = fc.array(ms, { minLength: 4, maxLength: 4 }).map(delaysOf);
  const retries = fc
    .tuple(fc.record({ readiness: waits, update: waits, minor: waits }), count, count)
    .map(([given, fastTries, minorTries]) => retriesOf(given, { fastTries, minorTries }));
  return fc.oneof(
    thresholdsOf(oddRatio).map((thresholds) => ({ thresholds })),
    delays.map((levelDelaysMs) => ({ levelDelaysMs })),
    retries.map((given) => ({ retries: given })),
    count.map((batchSize) => ({ batchSize })),
    ms.map((batchWindowMs) => ({ batchWindowMs })),
    oddRatio.map((retryJitterRatio) => ({ retryJitterRatio })),
    fc.constantFrom(-1, 0, 1e-300, 0.1, 1, 1_001).map((passesPerSecond) => ({ passesPerSecond })),
    fc.constantFrom(-1, 0, 1, 2, 10_001).map((passBurst) => ({ passBurst })),
    fc.constantFrom(-1, 0, 1, 2, 10_001).map((runnerBurst) => ({ runnerBurst })),
    count.map((quarantineAfterFailures) => ({ quarantineAfterFailures })),
  );
}

function oneOrTwoOddities(): fc.Arbitrary<QueueSettings> {
  return fc
    .tuple(possible(), oddGroup(), oddGroup())
    .map(([settings, one, other]) => ({ ...settings, ...one, ...other }));
}

function thresholdsOf(value: fc.Arbitrary<number>): fc.Arbitrary<QueueSettings['thresholds']> {
  return fc.record({
    criticalBelowReadyRatio: value,
    highBelowReadyRatio: value,
    criticalAboveMagnitude: value,
    highAboveMagnitude: value,
    normalAboveMagnitude: value,
  });
}

function delaysOf([critical = 0, high = 0, normal = 0, low = 0]: readonly number[]): QueueSettings['levelDelaysMs'] {
  return { critical, high, normal, low };
}
