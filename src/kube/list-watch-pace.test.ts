import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { RetryPace } from './list-watch-pace.ts';

describe('kube/list-watch-pace', () => {
  let clock: SteppedClock;
  let pace: RetryPace;
  let awake: string[];
  const { signal } = new AbortController();

  beforeEach(() => {
    clock = new SteppedClock();
    pace = new RetryPace(clock);
    awake = [];
  });

  function wait(name: string, delayMs: number, leastMs = 0): void {
    void pace.wait(delayMs, leastMs, signal).then(() => awake.push(`${name} ${clock.nowMs()}`));
  }

  it('lets everyone wait for his own time while there are few of them', async () => {
    wait('a', 400);
    wait('b', 700);
    await clock.advance(1000);
    expect(awake).to.deep.equal(['a 400', 'b 700']);
  });

  it('lets no more than 9 go in 10 s, however short their waits', async () => {
    for (let n = 0; n < 20; n += 1) wait(`${n}`, 100);
    await clock.advance(10_000);
    expect(awake).to.have.lengthOf(8);
    expect(awake.slice(3, 6)).to.deep.equal(['3 100', '4 2100', '5 4100']);
  });

  it('wakes those who wait when one of them was answered, but not before the time that the server has asked for', async () => {
    wait('a', 20_000);
    wait('b', 20_000, 5000);
    await clock.advance(1000);
    pace.answered();
    await clock.advance(0);
    expect(awake).to.deep.equal(['a 1000']);
    await clock.advance(19_000);
    expect(awake).to.deep.equal(['a 1000', 'b 20000']);
  });

  it('is as at the beginning when the trouble is over', async () => {
    for (let n = 0; n < 4; n += 1) wait(`${n}`, 0);
    await clock.advance(1);
    pace.answered();
    wait('later', 10);
    await clock.advance(10);
    expect(awake.at(-1)).to.equal('later 11');
  });

  it('ends a wait when it is aborted, and leaves no timer', async () => {
    const controller = new AbortController();
    const waiting = pace.wait(1000, 0, controller.signal);
    controller.abort();
    await waiting;
    expect(clock.pending()).to.deep.equal([]);
  });
});
