import { expect } from 'chai';
import { systemClock } from './clock.ts';

describe('queue/clock', () => {
  const monthMs = 30 * 24 * 3_600_000;

  it('calls after the time given', async () => {
    const startMs = systemClock.nowMs();
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    expect(systemClock.nowMs() - startMs).to.be.at.least(4);
  });

  for (const delayMs of [2 ** 31, monthMs, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
    it(`does not call at once after ${delayMs} ms`, async () => {
      let calls = 0;
      const cancel = systemClock.after(delayMs, () => {
        calls += 1;
      });
      await new Promise<void>((resolve) => systemClock.after(10, resolve));
      cancel();
      expect(calls).to.equal(0);
    });
  }

  it('waits for as many times as it takes, and calls once', () => {
    const waits: number[] = [];
    let nowMs = 0;
    let calls = 0;
    const original = { setTimeout: globalThis.setTimeout, now: performance.now };
    let fire = () => {};
    try {
      performance.now = () => nowMs;
      globalThis.setTimeout = ((run: () => void, ms: number) => {
        waits.push(ms);
        fire = () => {
          nowMs += ms;
          run();
        };
        return undefined;
      }) as never;
      systemClock.after(monthMs, () => {
        calls += 1;
      });
      fire();
      expect(calls).to.equal(0);
      fire();
    } finally {
      globalThis.setTimeout = original.setTimeout;
      performance.now = original.now;
    }
    expect([calls, waits]).to.deep.equal([1, [2 ** 31 - 1, monthMs - (2 ** 31 - 1)]]);
  });
});
