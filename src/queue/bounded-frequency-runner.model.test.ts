import { expect } from 'chai';
import fc from 'fast-check';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { BoundedFrequencyRunner, type RunOutcome } from './bounded-frequency-runner.ts';

const RUNS = 500;
/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe(`queue/bounded-frequency-runner.model, FC_SEED=${SEED}`, function () {
  this.timeout(60_000);

  it('follows every request with a run that starts after it, as soon as the bounds allow', () =>
    check((world) => {
      for (const { reason, dueMs } of world.requests) {
        const run = world.runs.find(({ startMs, reasons }) => startMs >= dueMs && reasons.has(reason));
        expect(run, `run for ${reason} of ${dueMs}`).not.equal(undefined);
        expect(run?.startMs).to.be.at.most(latestStart(world, dueMs));
      }
    }));

  it('keeps the minimum between the end of a run and the next start, but for a burst', () =>
    check(({ runs, bounds: { minIntervalMs, burst } }) => {
      for (const [first] of runs.entries()) {
        let quietMs = 0;
        for (const [count, run] of runs.slice(first + 1).entries()) {
          quietMs += run.startMs - (runs[first + count]?.endMs ?? 0);
          expect(quietMs).to.be.at.least((count + 2 - burst) * minIntervalMs);
        }
      }
    }));

  it('never undercuts the minimum without a request', () =>
    check(({ runs, delayed, bounds: { minIntervalMs } }) => {
      for (const [index, { startMs, reasons }] of runs.entries()) {
        const unasked = [...reasons].every((reason) => ['retry', 'periodic'].includes(reason) || delayed.has(reason));
        const quietMs = startMs - (runs[index - 1]?.endMs ?? 0);
        if (unasked) expect(quietMs).to.be.at.least(minIntervalMs);
      }
    }));

  it('waits no longer than the maximum', () =>
    check(({ runs, bounds: { maxIntervalMs }, endMs }) => {
      const ends = [0, ...runs.map((run) => run.endMs)];
      for (const [index, end] of ends.entries()) {
        expect((runs[index]?.startMs ?? endMs) - end).to.be.at.most(maxIntervalMs);
      }
    }));

  it('runs one at a time, always for a reason, and at most once for what was asked during a run', () =>
    check(({ runs, requests, bounds: { maxIntervalMs } }) => {
      for (const [index, { startMs, endMs, reasons }] of runs.entries()) {
        const next = runs[index + 1];
        expect(reasons.size).to.be.at.least(1);
        expect(next?.startMs ?? endMs).to.be.at.least(endMs);
        const during = requests.filter(
          ({ reason, dueMs }) => dueMs > startMs && dueMs < endMs && reason.startsWith('request'),
        );
        const users = runs.slice(index + 1).filter((run) => during.some(({ reason }) => run.reasons.has(reason)));
        expect(users.length).to.equal(during.length === 0 ? 0 : 1);
      }
      for (const { startMs, reasons } of runs) {
        if (!reasons.has('periodic')) continue;
        const lastEnd = Math.max(0, ...runs.filter((run) => run.startMs < startMs).map((run) => run.endMs));
        expect(startMs).to.be.at.least(lastEnd + maxIntervalMs);
      }
    }));
});

interface Run {
  readonly startMs: number;
  endMs: number;
  readonly reasons: ReadonlySet<string>;
}

/** What was asked of the runner and what it did; times in milliseconds since the start. */
interface World {
  readonly clock: SteppedClock;
  readonly runner: BoundedFrequencyRunner;
  readonly bounds: { readonly minIntervalMs: number; readonly maxIntervalMs: number; readonly burst: number };
  readonly runs: Run[];
  /** Each with a reason of its own. */
  readonly requests: { readonly reason: string; readonly dueMs: number }[];
  readonly delayed: Set<string>;
  endMs: number;
}

type Model = Record<string, never>;
type Event = fc.AsyncCommand<Model, World>;

/** Plays random events against a runner of random bounds, lets it come to rest, then looks at all that happened. */
function check(inspect: (world: World) => void): Promise<void> {
  const property = fc.asyncProperty(
    worlds,
    fc.commands(events, { maxCommands: 40, size: 'max' }),
    async (makeWorld, commands) => {
      const world = makeWorld();
      world.runner.start();
      await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
      await world.clock.advance(REST_MS);
      await stop(world);
      inspect(world);
    },
  );
  return fc.assert(property, { numRuns: RUNS, seed: SEED, verbose: fc.VerbosityLevel.Verbose }); // a failure prints seed and path
}

/** Longer than any delay, interval and run together. */
const REST_MS = 1_500;

const events = [
  fc.nat({ max: 120 }).map((byMs): Event => event(`advance ${byMs}`, ({ clock }) => clock.advance(byMs))),
  fc.constant(
    event('request', async ({ runner, requests, clock }) => {
      const reason = `request ${requests.length}`;
      requests.push({ reason, dueMs: clock.nowMs() });
      runner.request(reason);
    }),
  ),
  fc.nat({ max: 250 }).map(
    (delayMs): Event =>
      event(`retry after ${delayMs}`, async ({ runner, requests, delayed, clock }) => {
        const reason = `delayed ${requests.length}`;
        requests.push({ reason, dueMs: clock.nowMs() + delayMs });
        delayed.add(reason);
        runner.retryAfter(delayMs, reason);
      }),
  ),
];

function event(text: string, run: (world: World) => Promise<void>): Event {
  return { check: () => true, run: (_, world) => run(world), toString: () => text };
}

const outcomes = fc.oneof(
  { weight: 4, arbitrary: fc.constant<RunOutcome>({ kind: 'done' }) },
  { weight: 1, arbitrary: fc.nat({ max: 200 }).map((afterMs): RunOutcome => ({ kind: 'retry', afterMs })) },
);

const worlds = fc
  .record({
    minIntervalMs: fc.nat({ max: 100 }),
    maxOverMinMs: fc.nat({ max: 300 }),
    burst: fc.integer({ min: 1, max: 4 }),
    script: fc.infiniteStream(fc.tuple(fc.nat({ max: 60 }), outcomes)),
  })
  .map(({ minIntervalMs, maxOverMinMs, burst, script }) => () => {
    const bounds = { minIntervalMs, maxIntervalMs: Math.max(1, minIntervalMs + maxOverMinMs), burst };
    return makeWorld(bounds, script[Symbol.iterator]());
  });

function makeWorld(bounds: World['bounds'], script: Iterator<[number, RunOutcome]>): World {
  const clock = new SteppedClock();
  const runs: Run[] = [];
  const run = async (reasons: ReadonlySet<string>): Promise<RunOutcome> => {
    const current: Run = { startMs: clock.nowMs(), endMs: clock.nowMs(), reasons };
    runs.push(current);
    const [takesMs, outcome] = script.next().value;
    if (takesMs > 0) await new Promise<void>((resolve) => clock.after(takesMs, resolve));
    current.endMs = clock.nowMs();
    return outcome;
  };
  const runner = new BoundedFrequencyRunner({ clock, ...bounds, run });
  return { clock, runner, bounds, runs, requests: [], delayed: new Set(), endMs: 0 };
}

async function stop(world: World): Promise<void> {
  const stopped = world.runner.stop();
  world.endMs = world.clock.nowMs();
  await world.clock.advance(100); // the run in progress
  await stopped;
}

/** A request waits for the run in progress and the minimum after it; several runs may come first only within a burst. */
function latestStart({ runs, bounds }: World, dueMs: number): number {
  const running = runs.findLast(({ startMs, endMs }) => startMs <= dueMs && dueMs <= endMs);
  const before = runs.filter(({ endMs }) => endMs <= dueMs).at(-1);
  const quietSinceMs = running?.endMs ?? before?.endMs ?? 0;
  return Math.max(dueMs, quietSinceMs + bounds.minIntervalMs);
}
