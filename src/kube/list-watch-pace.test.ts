import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { RequestPace } from './list-watch-pace.ts';

describe('kube/list-watch-pace', () => {
  let clock: SteppedClock;
  let pace: RequestPace;
  let awake: string[];
  const { signal } = new AbortController();

  beforeEach(() => {
    clock = new SteppedClock();
    pace = new RequestPace(clock);
    awake = [];
  });

  function wait(name: string, delayMs: number, leastMs = 0, cause: 'server' | 'request' = 'server'): void {
    void pace.wait({ delayMs, leastMs, cause }, signal).then((after) => {
      awake.push(`${name} ${clock.nowMs()}${after === 'list-anew' ? ' anew' : ''}`);
    });
  }

  it('lets everyone wait for his own time while there are few of them', async () => {
    wait('a', 400);
    wait('b', 700);
    await clock.advance(1000);
    expect(awake).to.deep.equal(['a 400', 'b 700']);
  });

  for (const cause of ['server', 'request'] as const) {
    it(`lets no more than 9 go in 10 s, however short their waits, when the ${cause} is at fault`, async () => {
      for (let n = 0; n < 20; n += 1) wait(`${n}`, 100, 0, cause);
      await clock.advance(10_000);
      expect(awake).to.have.lengthOf(8);
      expect(awake.slice(3, 6)).to.deep.equal(['3 100', '4 2100', '5 4100']);
    });
  }

  it('has retries wait for the requests that did not', async () => {
    for (let n = 0; n < 8; n += 1) pace.count();
    wait('a', 100);
    wait('b', 100);
    await clock.advance(20_000);
    expect(awake).to.deep.equal(['a 10000', 'b 12000']);
  });

  it('gives a turn at once after a while of peace', async () => {
    for (let n = 0; n < 8; n += 1) pace.count();
    await clock.advance(16_000);
    for (let n = 0; n < 4; n += 1) await pace.turn(signal);
    expect(clock.pending()).to.deep.equal([]);
  });

  it('wakes those who wait when a watch of one of them goes on, but not before the time that the server has asked for', async () => {
    wait('a', 20_000);
    wait('b', 20_000, 5000);
    await clock.advance(1000);
    pace.lasting();
    await clock.advance(0);
    expect(awake).to.deep.equal(['a 1000']);
    await clock.advance(19_000);
    expect(awake).to.deep.equal(['a 1000', 'b 20000']);
  });

  it('does not wake those whose own request is at fault', async () => {
    wait('a', 20_000);
    wait('b', 20_000, 0, 'request');
    pace.lasting();
    await clock.advance(20_000);
    expect(awake).to.deep.equal(['a 0', 'b 20000']);
  });

  it('lets no more of them go because of such news', async () => {
    for (let n = 0; n < 10_000; n += 100) {
      wait(`${n}`, 20_000);
      pace.lasting();
      await clock.advance(100);
    }
    expect(awake).to.have.lengthOf(8);
  });

  it('has everyone list anew when the version of one was gone after the trouble, and says so once', async () => {
    wait('a', 20_000);
    wait('b', 30_000, 5000);
    await clock.advance(1000);
    expect(pace.expired()).to.equal(true);
    await clock.advance(0);
    expect(awake).to.deep.equal(['a 1000 anew']);
    expect(pace.expired()).to.equal(false);
    await clock.advance(30_000);
    expect(awake).to.deep.equal(['a 1000 anew', 'b 30000']);
  });

  it('tells those too who only wait for their turn', async () => {
    for (let n = 0; n < 4; n += 1) pace.count();
    wait('a', 0);
    await clock.advance(0);
    expect(pace.expired()).to.equal(true);
    await clock.advance(2000);
    expect(awake).to.deep.equal(['a 2000 anew']);
  });

  it('has nothing to say of a version that is gone without any trouble', () => {
    expect(pace.expired()).to.equal(false);
  });

  it('ends a wait and a turn when they are aborted, and leaves neither timer nor listener', async () => {
    const controller = new AbortController();
    const wait = { delayMs: 1000, leastMs: 0, cause: 'server' } as const;
    const waiting = [pace.wait(wait, controller.signal)];
    for (let n = 0; n < 5; n += 1) waiting.push(pace.turn(controller.signal).then(() => 'as-before'));
    controller.abort();
    await Promise.all(waiting);
    expect(clock.pending()).to.deep.equal([]);
    expect(getEventListeners(controller.signal, 'abort')).to.deep.equal([]);
  });
});
