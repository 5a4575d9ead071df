import { expect } from 'chai';
import fc from 'fast-check';
import type { Behaviour } from '../../../src/desired/settings.ts';
import { anyPacketWalk, type PacketStep, type PacketWalkSketch } from './any-walk.ts';
import { PacketWalk } from './packet-walk.ts';

/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));
const TIME_LIMIT_MS = 120_000;

interface Kind {
  readonly name: string;
  readonly behaviours: readonly Behaviour[];
  readonly walks: number;
  /** What has to go wrong on purpose, at least, in each walk. */
  readonly troubles: number;
  readonly play: (walk: PacketWalk, step: PacketStep) => Promise<void>;
}

describe('test/kernel/packets', () => {
  const kinds: readonly Kind[] = [
    {
      name: 'while clusters change and the program starts anew',
      behaviours: ['documented'],
      walks: 20,
      troubles: 0,
      play: (walk, step) => walk.change(step),
    },
    {
      name: 'while it starts anew with other settings',
      behaviours: ['documented', 'kube-proxy'],
      walks: 40,
      troubles: 0,
      play: (walk, step) => walk.changeSettings(step),
    },
    {
      name: 'while lines are refused',
      behaviours: ['documented'],
      walks: 20,
      troubles: 1,
      play: (walk, step) => walk.changeRefused(step),
    },
    {
      name: 'while the program dies and starts anew',
      behaviours: ['documented'],
      walks: 25,
      troubles: 1,
      play: (walk, step) => walk.changeAndDie(step),
    },
  ];
  for (const { name, behaviours, walks, troubles, play } of kinds) {
    it(`serves, keeps out and answers at every line as before or as after ${name}, FC_SEED=${SEED}`, async () => {
      const seen = { moments: 0, troubles: 0 };
      const property = fc.asyncProperty(anyPacketWalk(behaviours), async ({ steps, ...start }) => {
        const walk = new PacketWalk(start);
        for (const [index, step] of steps.entries()) {
          try {
            await play(walk, step);
          } catch (error) {
            throw new Error(`step ${index + 1}: ${error instanceof Error ? error.message : error}`, { cause: error });
          }
        }
        seen.moments += walk.moments;
        seen.troubles += walk.troubles;
      });
      const details = await fc.check(property, {
        seed: SEED,
        numRuns: walks,
        interruptAfterTimeLimit: TIME_LIMIT_MS - 10_000,
        markInterruptAsFailure: true,
      });
      if (details.failed) throw new Error(describeFailure(details));
      expect(seen.moments, 'lines after which packets were sent').to.be.above(40 * walks);
      expect(seen.troubles, 'refusals or deaths').to.be.at.least(troubles * walks);
    }).timeout(TIME_LIMIT_MS);
  }
});

function describeFailure({
  seed,
  counterexamplePath,
  errorInstance,
  counterexample,
}: fc.RunDetails<[PacketWalkSketch]>): string {
  const cause = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const [example] = counterexample ?? [];
  const failing = Number(/^step (\d+)/.exec(cause)?.[1] ?? Number.POSITIVE_INFINITY);
  const steps = (example?.steps ?? [])
    .slice(0, failing)
    .flatMap(({ objects, later, ...rest }, index) => [
      `step ${index + 1}: ${JSON.stringify(rest)}`,
      ...objects.map((object) => `  ${JSON.stringify(object)}`),
      ...later.map((object) => `  later: ${JSON.stringify(object)}`),
    ]);
  return [
    `FC_SEED=${seed}, path ${counterexamplePath}:`,
    cause.slice(0, 3000),
    `settings ${JSON.stringify(example?.settings)}`,
    ...steps,
  ].join('\n');
}
