import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { sleep } from './sleep.ts';

describe('queue/sleep', () => {
  it('lasts as long as it is told to', async () => {
    const clock = new SteppedClock();
    let awake = false;
    void sleep(clock, 100).then(() => {
      awake = true;
    });
    await clock.advance(99);
    expect(awake).to.equal(false);
    await clock.advance(1);
    expect(awake).to.equal(true);
  });

  it('ends when the signal is aborted, before or on the way, and leaves nothing behind', async () => {
    const clock = new SteppedClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, 100, controller.signal);
    controller.abort();
    await sleeping;
    await sleep(clock, 100, controller.signal);
    expect([clock.pending(), getEventListeners(controller.signal, 'abort')]).to.deep.equal([[], []]);
  });

  it('takes its listener off the signal when it ends by itself', async () => {
    const clock = new SteppedClock();
    const { signal } = new AbortController();
    const sleeping = sleep(clock, 100, signal);
    await clock.advance(100);
    await sleeping;
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });
});
