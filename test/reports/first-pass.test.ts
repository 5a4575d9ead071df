import { expect } from 'chai';
import { fromFile } from '../../src/config/config-fixture.ts';
import { BoundedFrequencyRunner } from '../../src/queue/bounded-frequency-runner.ts';
import { SteppedClock } from '../stepped-clock.ts';

const MINUTE_MS = 60_000;

describe('test/reports/first-pass', () => {
  let clock: SteppedClock;
  let runner: BoundedFrequencyRunner;
  /** Minutes at which passes began. */
  let passes: number[];

  beforeEach(() => {
    const { minSyncPeriodMs, syncPeriodMs } = fromFile('ipvs: {minSyncPeriod: 20m, syncPeriod: 1h}\n');
    clock = new SteppedClock();
    passes = [];
    runner = new BoundedFrequencyRunner({
      clock,
      minIntervalMs: minSyncPeriodMs,
      maxIntervalMs: syncPeriodMs,
      run: async () => {
        passes.push(clock.nowMs() / MINUTE_MS);
        return { kind: 'done' };
      },
    });
    runner.start();
  });
  afterEach(() => runner.stop());

  it('R88: with 20 minutes between passes the first one begins as soon as all is listed, and further changes are held back', async () => {
    await clock.advance(MINUTE_MS);
    runner.request('start');
    await clock.advance(0);
    expect(passes).to.deep.equal([1]);
    for (let change = 0; change < 5; change += 1) {
      runner.request('change');
      await clock.advance(MINUTE_MS);
    }
    expect(passes).to.deep.equal([1, 1]);
    await clock.advance(16 * MINUTE_MS);
    expect(passes).to.deep.equal([1, 1, 21]);
  });

  it('R88: changes after a quiet hour are programmed at once', async () => {
    runner.request('start');
    await clock.advance(45 * MINUTE_MS);
    for (const reason of ['one', 'another']) {
      runner.request(reason);
      await clock.advance(0);
    }
    expect(passes).to.deep.equal([0, 45, 45]);
  });
});
