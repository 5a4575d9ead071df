import { expect } from 'chai';
import fc from 'fast-check';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { BoundedFrequencyRunner, type RunOutcome } from './bounded-frequency-runner.ts';
import { CHANGE_KINDS, LEVELS, type Level } from './change.ts';
import { DueRequests } from './due-requests.ts';
import type { TakenService } from './queue-entry.ts';
import { WORK_OUTCOMES, type WorkOutcome } from './queue-metrics.ts';
import { ServiceQueue } from './service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS } from './settings.ts';

const RUNS = 500;
/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** A queue, its requests and a runner together, with passes that take time and Services that fail. */
describe('queue/due-requests.model', () => {
  it(`has every change in a pass as soon as delay, minimum and running pass allow, FC_SEED=${SEED}`, () =>
    check(({ adds, passes, minIntervalMs }) => {
      for (const added of adds) {
        const { atMs, service, level, isBusy } = added;
        if (isBusy) continue;
        const pass = passes.find((each) => takes(each, added));
        const dueMs = atMs + DEFAULT_QUEUE_SETTINGS.levelDelaysMs[level];
        const running = passes.find(({ startMs, endMs }) => startMs <= dueMs && endMs > dueMs);
        const freeMs = Math.max(dueMs, running?.endMs ?? 0);
        expect(pass?.startMs, `${service} of ${atMs}`).to.be.at.most(freeMs + minIntervalMs);
        if (level === 'critical' && !running) expect(pass?.startMs).to.be.at.most(atMs + minIntervalMs);
      }
    }));

  it(`keeps the minimum between passes, but for one burst, FC_SEED=${SEED}`, () =>
    check(({ passes, minIntervalMs }) => {
      for (const [index, pass] of passes.entries()) {
        const [last, before] = [passes[index - 1], passes[index - 2]];
        if (!last || !before) continue;
        const quietMs = pass.startMs - last.endMs + (last.startMs - before.endMs);
        expect(quietMs).to.be.at.least(minIntervalMs);
      }
    }));

  it(`asks for no pass that finds nothing to do, FC_SEED=${SEED}`, () =>
    check(({ passes }) => {
      for (const { reasons, taken } of passes) {
        if (!reasons.has('periodic')) expect(taken.length, [...reasons].join()).to.be.at.least(1);
      }
    }));

  it(`follows a pass with one more at most for what came during it, FC_SEED=${SEED}`, () =>
    check(({ adds, passes }) => {
      for (const { startMs, endMs } of passes) {
        const during = adds.filter(
          ({ atMs, level, isBusy }) => level === 'critical' && !isBusy && atMs > startMs && atMs < endMs,
        );
        const following = passes.filter((next) =>
          during.some((added) => next.startMs >= endMs && next === passes.find((each) => takes(each, added))),
        );
        expect(following.length).to.be.at.most(1);
      }
    }));

  it(`applies everything in the end, and leaves no timer of its own, FC_SEED=${SEED}`, () =>
    check(({ queue, clock }) => {
      expect(queue.waiting()).to.deep.equal([]);
      expect(clock.pending()).to.deep.equal([]);
    }));

  it(`names the level of what is due, so that a critical change shows in the reasons, FC_SEED=${SEED}`, () =>
    check(({ adds, passes }) => {
      for (const { reasons } of passes) expect([...LEVELS, 'periodic']).to.include.members([...reasons]);
      for (const added of adds) {
        if (added.level !== 'critical' || added.isBusy) continue;
        const pass = passes.find((each) => takes(each, added));
        expect(pass?.reasons.has('critical')).to.equal(true);
      }
    }));
});

const LONGEST_PASS_MS = 200;

interface Pass {
  readonly order: number;
  readonly startMs: number;
  endMs: number;
  readonly reasons: ReadonlySet<string>;
  readonly taken: readonly TakenService[];
}

interface Added {
  readonly order: number;
  readonly atMs: number;
  readonly service: string;
  readonly level: Level;
  /** Its Service is in a pass, or in quarantine. */
  readonly isBusy: boolean;
}

interface World {
  readonly clock: SteppedClock;
  readonly queue: ServiceQueue;
  readonly runner: BoundedFrequencyRunner;
  readonly minIntervalMs: number;
  readonly passes: Pass[];
  readonly adds: Added[];
  /** Counts events and passes, so that what happens at one time has an order. */
  order: number;
  /** No failures from now on. */
  calm: boolean;
}

type Command = fc.AsyncCommand<Record<string, never>, World>;

const commands = fc.commands(
  [
    fc
      .tuple(
        fc.constantFrom('shop/a', 'shop/b', 'shop/c'),
        fc.constantFrom(...LEVELS),
        fc.constantFrom(...CHANGE_KINDS),
      )
      .map(([service, level, kind]): Command => {
        return command(`add ${service} ${level} ${kind}`, async (world) => {
          const { adds, queue, clock, passes } = world;
          const running = passes.find(({ endMs }) => endMs === Number.POSITIVE_INFINITY);
          const isInPass = running?.taken.some((each) => each.service === service) ?? false;
          const isBusy = isInPass || queue.isQuarantined(service);
          adds.push({ order: world.order++, atMs: clock.nowMs(), service, level, isBusy });
          queue.add({ service, level, kind, readyBefore: 1, readyAfter: 1, magnitude: 0 });
        });
      }),
    fc.nat({ max: 900 }).map((byMs) => command(`advance ${byMs}`, ({ clock }) => clock.advance(byMs))),
  ],
  { maxCommands: 60, size: 'max' },
);

function command(text: string, run: (world: World) => Promise<void>): Command {
  return { check: () => true, run: (_, world) => run(world), toString: () => text };
}

const worlds = fc
  .record({
    minIntervalMs: fc.constantFrom(0, 50, 300),
    script: fc.infiniteStream(fc.tuple(fc.nat({ max: LONGEST_PASS_MS }), fc.constantFrom(...WORK_OUTCOMES, 'applied'))),
  })
  .map(
    ({ minIntervalMs, script }) =>
      () =>
        makeWorld(minIntervalMs, script[Symbol.iterator]()),
  );

function check(inspect: (world: World) => void): Promise<void> {
  const property = fc.asyncProperty(worlds, commands, async (make, given) => {
    const world = make();
    world.runner.start();
    await fc.asyncModelRun(() => ({ model: {}, real: world }), given);
    world.calm = true;
    await world.clock.advance(REST_MS);
    await world.runner.stop();
    inspect(world);
  });
  return fc.assert(property, { numRuns: RUNS, seed: SEED });
}

/** Longer than any delay that a retry has come to. */
const REST_MS = 200_000;

function makeWorld(minIntervalMs: number, script: Iterator<[number, WorkOutcome]>): World {
  const clock = new SteppedClock();
  const passes: Pass[] = [];
  const run = async (reasons: ReadonlySet<string>): Promise<RunOutcome> => {
    const taken = queue.drain();
    const [order, startMs] = [world.order++, clock.nowMs()];
    const pass: Pass = { order, startMs, endMs: Number.POSITIVE_INFINITY, reasons, taken };
    passes.push(pass);
    const [takesMs, outcome] = script.next().value;
    if (takesMs > 0 && !world.calm) await new Promise<void>((resolve) => clock.after(takesMs, resolve));
    for (const [index, { service }] of taken.entries()) {
      queue.done(service, world.calm || index > 0 ? 'applied' : outcome);
    }
    pass.endMs = clock.nowMs();
    return { kind: 'done' };
  };
  const runner = new BoundedFrequencyRunner({ clock, minIntervalMs, maxIntervalMs: 100_000, run });
  const listener = new DueRequests(clock, runner);
  const queue = new ServiceQueue({ clock, random: () => 0, settings: DEFAULT_QUEUE_SETTINGS, listener });
  const world: World = { clock, queue, runner, minIntervalMs, passes, adds: [], order: 0, calm: false };
  return world;
}

function takes({ order, taken }: Pass, added: Added): boolean {
  return order > added.order && taken.some(({ service }) => service === added.service);
}
