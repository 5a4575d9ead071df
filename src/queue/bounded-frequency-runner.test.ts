import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { BoundedFrequencyRunner, type RunnerOptions, type RunOutcome } from './bounded-frequency-runner.ts';

describe('queue/bounded-frequency-runner', () => {
  it('runs soon after a request and says why', async () => {
    const { clock, runner, runs } = startRunner();
    await clock.advance(500);
    runner.request('service');
    await clock.advance(0);
    expect(runs).to.deep.equal([{ atMs: 500, reasons: ['service'] }]);
  });

  it('puts requests of one moment into one run', async () => {
    const { clock, runner, runs } = startRunner();
    for (const reason of ['service', 'slice', 'service']) runner.request(reason);
    await clock.advance(0);
    expect(runs).to.deep.equal([{ atMs: 0, reasons: ['service', 'slice'] }]);
  });

  it('does nothing without a request until the maximum interval has passed', async () => {
    const { clock, runs } = startRunner();
    await clock.advance(29_999);
    expect(runs).to.deep.equal([]);
    await clock.advance(30_001);
    expect(runs).to.deep.equal([
      { atMs: 30_000, reasons: ['periodic'] },
      { atMs: 60_000, reasons: ['periodic'] },
    ]);
  });

  it('counts the maximum interval from the end of a run', async () => {
    const { clock, runner, runs } = startRunner({ takesMs: 5_000 });
    runner.request('a');
    await clock.advance(34_999);
    expect(starts(runs)).to.deep.equal([0]);
    await clock.advance(1);
    expect(starts(runs)).to.deep.equal([0, 35_000]);
  });

  it('starts a burst without waiting, then keeps the minimum from the end of a run to the next start', async () => {
    const { clock, runner, runs } = startRunner({ takesMs: 100 });
    for (let i = 0; i < 40; i++) {
      runner.request('a');
      await clock.advance(100);
    }
    expect(starts(runs)).to.deep.equal([0, 100, 1_200, 2_300, 3_400]);
  });

  it('allows no burst when it is 1', async () => {
    const { clock, runner, runs } = startRunner({ burst: 1 });
    for (const reason of ['a', 'b', 'c']) {
      runner.request(reason);
      await clock.advance(10);
    }
    await clock.advance(5_000);
    expect(starts(runs)).to.deep.equal([0, 1_000]);
  });

  it('may burst again after a quiet time', async () => {
    const { clock, runner, runs } = startRunner();
    for (const pauseMs of [0, 0, 3_000, 0, 0]) {
      await clock.advance(pauseMs);
      runner.request('a');
      await clock.advance(0);
    }
    await clock.advance(5_000);
    expect(starts(runs)).to.deep.equal([0, 0, 3_000, 3_000, 4_000]);
  });

  it('never waits between requests when the minimum is 0', async () => {
    const { clock, runner, runs } = startRunner({ minIntervalMs: 0 });
    for (let i = 0; i < 5; i++) {
      runner.request('a');
      await clock.advance(1);
    }
    expect(starts(runs)).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('follows requests during a run with exactly one more', async () => {
    const { clock, runner, runs } = startRunner({ takesMs: 200 });
    runner.request('a');
    await clock.advance(50);
    runner.request('b');
    runner.request('c');
    await clock.advance(10_000);
    expect(runs).to.deep.equal([
      { atMs: 0, reasons: ['a'] },
      { atMs: 200, reasons: ['b', 'c'] },
    ]);
  });

  it('keeps requests that come before the start', async () => {
    const { clock, runner, runs } = makeRunner();
    runner.request('early');
    await clock.advance(700);
    expect(runs).to.deep.equal([]);
    runner.start();
    await clock.advance(0);
    expect(runs).to.deep.equal([{ atMs: 700, reasons: ['early'] }]);
  });

  it('repeats a run as its outcome asks', async () => {
    const { clock, runner, runs } = startRunner({ outcomes: [{ kind: 'retry', afterMs: 4_000 }] });
    runner.request('a');
    await clock.advance(20_000);
    expect(runs).to.deep.equal([
      { atMs: 0, reasons: ['a'] },
      { atMs: 4_000, reasons: ['retry'] },
    ]);
  });

  it('tells a repetition the reason that the outcome gives, once', async () => {
    const outcomes = [{ kind: 'retry', afterMs: 4_000, reason: 'look' } as const];
    const { clock, runner, runs } = startRunner({ outcomes: [...outcomes, { kind: 'retry', afterMs: 1_000 }] });
    runner.request('a');
    await clock.advance(20_000);
    expect(runs.map(({ reasons }) => reasons)).to.deep.equal([['a'], ['look'], ['retry']]);
  });

  it('does not repeat a run sooner than the minimum, however many runs the burst has left', async () => {
    const { clock, runner, runs } = startRunner({ outcomes: [{ kind: 'retry', afterMs: 0 }] });
    runner.request('a');
    await clock.advance(20_000);
    expect(starts(runs)).to.deep.equal([0, 1_000]);
  });

  it('forgets the repetition when a later run is done before', async () => {
    const { clock, runner, runs } = startRunner({ outcomes: [{ kind: 'retry', afterMs: 4_000 }] });
    runner.request('a');
    await clock.advance(2_000);
    runner.request('b');
    await clock.advance(20_000);
    expect(starts(runs)).to.deep.equal([0, 2_000]);
  });

  it('keeps a delayed request beside runs for other reasons, the earliest of one reason', async () => {
    const { clock, runner, runs } = startRunner();
    runner.retryAfter(5_000, 'draining');
    runner.retryAfter(9_000, 'draining');
    await clock.advance(1_000);
    runner.request('a');
    await clock.advance(20_000);
    expect(runs).to.deep.equal([
      { atMs: 1_000, reasons: ['a'] },
      { atMs: 5_000, reasons: ['draining'] },
    ]);
  });

  it('is not kept from the periodic run by a retry that is further off', async () => {
    const { clock, runner, runs } = startRunner();
    runner.retryAfter(40_000, 'late');
    await clock.advance(45_000);
    expect(runs).to.deep.equal([
      { atMs: 30_000, reasons: ['periodic'] },
      { atMs: 40_000, reasons: ['late'] },
    ]);
  });

  it('waits for the run in progress when it is stopped, and starts none after', async () => {
    const { clock, runner, runs } = startRunner({ takesMs: 200 });
    runner.request('a');
    await clock.advance(100);
    runner.request('b');
    let stopped = false;
    const stopping = runner.stop().then(() => {
      stopped = true;
    });
    await clock.advance(99);
    expect(stopped).to.equal(false);
    await clock.advance(1);
    await stopping;
    runner.request('c');
    await clock.advance(100_000);
    expect(starts(runs)).to.deep.equal([0]);
    expect(clock.pending()).to.deep.equal([]);
  });

  it('stops at once when nothing runs, be it before the start', async () => {
    const { clock, runner, runs } = makeRunner();
    runner.request('a');
    await runner.stop();
    runner.start();
    await clock.advance(100_000);
    await runner.finished;
    expect(runs).to.deep.equal([]);
  });

  it('hands on what a run throws, and ends', async () => {
    const clock = new SteppedClock();
    const runner = new BoundedFrequencyRunner({
      ...BOUNDS,
      clock,
      run: () => Promise.reject(new Error('a bug')),
    });
    const outcome = runner.finished.catch((error: Error) => error.message);
    runner.start();
    runner.request('a');
    await clock.advance(0);
    expect(await outcome).to.equal('a bug');
    expect(await runner.stop().catch((error: Error) => error.message)).to.equal('a bug');
    expect(clock.pending()).to.deep.equal([]);
  });

  it('waits on when a timer fires early', async () => {
    const clock = new SteppedClock();
    const starts: number[] = [];
    const runner = new BoundedFrequencyRunner({
      ...BOUNDS,
      clock: { nowMs: () => clock.nowMs(), after: (delayMs, run) => clock.after(delayMs * 0.999, run) },
      run: async () => {
        starts.push(clock.nowMs());
        return { kind: 'done' };
      },
    });
    runner.start();
    await clock.advance(30_000);
    expect(starts).to.deep.equal([30_000]);
  });

  it('waits longer than one timer can', async () => {
    const maxIntervalMs = 2 ** 33;
    const { clock, runs } = startRunner({ maxIntervalMs });
    expect(clock.pending()).to.deep.equal([2 ** 31 - 1]);
    await clock.advance(maxIntervalMs);
    expect(starts(runs)).to.deep.equal([maxIntervalMs]);
  });

  it('refuses impossible bounds and a second start', () => {
    expect(() => makeRunner({ minIntervalMs: 2, maxIntervalMs: 1 })).to.throw(RangeError);
    expect(() => makeRunner({ minIntervalMs: 0, maxIntervalMs: 0 })).to.throw(RangeError);
    expect(() => makeRunner({ minIntervalMs: -1 })).to.throw(RangeError);
    expect(() => makeRunner({ burst: 0 })).to.throw(RangeError);
    const { runner } = startRunner();
    expect(() => runner.start()).to.throw('started before');
  });
});

const BOUNDS = { minIntervalMs: 1_000, maxIntervalMs: 30_000 };

interface Setup extends Partial<Pick<RunnerOptions, 'minIntervalMs' | 'maxIntervalMs' | 'burst'>> {
  readonly takesMs?: number;
  /** Of the first runs; the others are done. */
  readonly outcomes?: readonly RunOutcome[];
}

interface Run {
  readonly atMs: number;
  readonly reasons: readonly string[];
}

function makeRunner({ takesMs = 0, outcomes = [], ...bounds }: Setup = {}) {
  const clock = new SteppedClock();
  const runs: Run[] = [];
  const run = async (reasons: ReadonlySet<string>): Promise<RunOutcome> => {
    runs.push({ atMs: clock.nowMs(), reasons: [...reasons] });
    const outcome = outcomes[runs.length - 1] ?? { kind: 'done' };
    if (takesMs > 0) await new Promise<void>((resolve) => clock.after(takesMs, resolve));
    return outcome;
  };
  return { clock, runs, runner: new BoundedFrequencyRunner({ ...BOUNDS, ...bounds, clock, run }) };
}

function startRunner(setup?: Setup) {
  const made = makeRunner(setup);
  made.runner.start();
  return made;
}

function starts(runs: readonly Run[]): number[] {
  return runs.map(({ atMs }) => atMs);
}
