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
    void pace.wait(delayMs, leastMs, signal).then((how) => {
      awake.push(`${name} ${clock.nowMs()}${how === 'list-anew' ? ' anew' : ''}`);
    });
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

  it('tells of an accepted watch a moment later, when its version would have been refused by then', async () => {
    wait('a', 20_000);
    await clock.advance(1000);
    void pace.accepted(signal);
    await clock.advance(499);
    expect(awake).to.deep.equal([]);
    await clock.advance(1);
    expect(awake).to.deep.equal(['a 1500']);
  });

  it('has everyone list anew when the version of one was gone after the trouble, and says so once', async () => {
    wait('a', 20_000);
    wait('b', 30_000, 5000);
    await clock.advance(1000);
    void pace.accepted(signal);
    expect(pace.expired()).to.equal(true);
    await clock.advance(0);
    expect(awake).to.deep.equal(['a 1000 anew']);
    expect(pace.expired()).to.equal(false);
    await clock.advance(30_000);
    expect(awake).to.deep.equal(['a 1000 anew', 'b 30000']);
  });

  it('has nothing to say of a version that is gone without any trouble', async () => {
    expect(pace.expired()).to.equal(false);
    await pace.accepted(signal);
    expect(clock.pending()).to.deep.equal([]);
  });

  it('tells nobody of a watch when it is stopped', async () => {
    const controller = new AbortController();
    wait('a', 20_000);
    const accepted = pace.accepted(controller.signal);
    controller.abort();
    await accepted;
    await clock.advance(1000);
    expect(awake).to.deep.equal([]);
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
