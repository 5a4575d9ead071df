import { expect } from 'chai';
import fc from 'fast-check';
import type { Behaviour, ProxySettings } from '../../../src/desired/settings.ts';
import { anySettings } from '../any-cluster.ts';
import { anyFaultyStep, type FaultyStep } from './any-fault.ts';
import { FaultyWalk } from './faulty-walk.ts';

/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));
const BEHAVIOURS: readonly (readonly Behaviour[])[] = [['documented'], ['kube-proxy'], ['documented', 'kube-proxy']];
const WALKS = 340;
const TIME_LIMIT_MS = 180_000;

/** Sets have little room in some, so that they have to be exchanged. */
function anySettingsOf(behaviours: readonly Behaviour[]): fc.Arbitrary<ProxySettings> {
  const settings = fc.constantFrom(...behaviours).chain(anySettings);
  return fc
    .record({ given: settings, setRoom: fc.constantFrom(65_536, 1, 2, 4) })
    .map(({ given, setRoom }) => ({ ...given, setRoom }));
}

describe('test/kernel/faults', () => {
  for (const behaviours of BEHAVIOURS) {
    const title = `${WALKS} walks over faults of tools harm nothing that stands and end as from scratch`;
    it(`${title}: ${behaviours.join(' and ')}, FC_SEED=${SEED}`, async () => {
      let strikes = 0;
      const walk = fc.record({
        settings: anySettingsOf(behaviours),
        steps: fc.array(anyFaultyStep(behaviours), { minLength: 2, maxLength: 2 }),
      });
      const play = fc.asyncProperty(walk, async ({ settings, steps }) => {
        const faulty = new FaultyWalk(
          settings,
          behaviours.every((behaviour) => behaviour === 'documented'),
        );
        for (const [index, step] of steps.entries()) {
          try {
            await faulty.play(step);
          } catch (error) {
            throw new Error(`step ${index + 1}: ${error instanceof Error ? error.message : error}`, { cause: error });
          }
        }
        strikes += faulty.strikes;
      });
      const details = await fc.check(play, {
        seed: SEED,
        numRuns: WALKS,
        interruptAfterTimeLimit: TIME_LIMIT_MS - 10_000,
        markInterruptAsFailure: true,
      });
      if (details.failed) throw new Error(describeFailure(details));
      expect(strikes, 'faults that have struck').to.be.above(WALKS);
    }).timeout(TIME_LIMIT_MS);
  }
});

function describeFailure<T>(details: fc.RunDetails<T>): string {
  const { seed, counterexamplePath, numRuns, numShrinks, errorInstance, counterexample } = details;
  const cause = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const [example] = (counterexample ?? []) as readonly [{ settings: unknown; steps: readonly FaultyStep[] }?];
  const failing = Number(/^step (\d+)/.exec(cause)?.[1] ?? Number.POSITIVE_INFINITY);
  const steps = (example?.steps ?? [])
    .slice(0, failing)
    .flatMap(({ change, more, ...rest }, index) => [
      `step ${index + 1}: ${JSON.stringify(change.by)}, floating ${change.floating}, ${JSON.stringify(rest)}`,
      ...change.objects.map((object) => `  ${JSON.stringify(object)}`),
      ...(more ?? []).map((object) => `  more: ${JSON.stringify(object)}`),
    ]);
  return [
    `FC_SEED=${seed}, path ${counterexamplePath}, after ${numRuns} walks and ${numShrinks} shrinks:`,
    cause.slice(0, 3000),
    `settings ${JSON.stringify(example?.settings)}`,
    ...steps,
  ].join('\n');
}
