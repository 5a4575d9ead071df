import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { memoryGiver } from './give-back-memory.ts';

describe('observe/give-back-memory', () => {
  function giver(heapBytes: number) {
    const clock = new SteppedClock();
    const collected: number[] = [];
    const collect = async () => {
      collected.push(clock.nowMs());
    };
    const startMs = clock.nowMs();
    const { passed, stop } = memoryGiver({ clock, heapBytes: () => heapBytes, collect });
    return { clock, passed, stop, collectedAfterMs: () => collected.map((ms) => ms - startMs) };
  }

  it('collects a second after a pass, and not again for ten minutes', async () => {
    const { clock, passed, collectedAfterMs } = giver(200e6);
    passed();
    expect(collectedAfterMs()).to.deep.equal([]);
    await clock.advance(1000);
    passed();
    await clock.advance(598_999);
    passed();
    await clock.advance(1000);
    expect(collectedAfterMs()).to.deep.equal([1000]);
    passed();
    await clock.advance(1000);
    expect(collectedAfterMs()).to.deep.equal([1000, 601_999]);
  });

  it('leaves a small process alone', async () => {
    const { clock, passed, collectedAfterMs } = giver(50e6);
    passed();
    await clock.advance(1000);
    expect(collectedAfterMs()).to.deep.equal([]);
    expect(clock.pending()).to.deep.equal([]);
  });

  it('does nothing once it was stopped', async () => {
    const { clock, passed, stop, collectedAfterMs } = giver(200e6);
    passed();
    stop();
    await clock.advance(1000);
    expect(collectedAfterMs()).to.deep.equal([]);
  });

  it('collects what nobody needs any more', async () => {
    const clock = new SteppedClock();
    let garbage: object | undefined = { some: 'thing' };
    const seen = new WeakRef(garbage);
    garbage = undefined;
    memoryGiver({ clock, heapBytes: () => 200e6 }).passed();
    await clock.advance(1000);
    await new Promise(setImmediate);
    while (seen.deref()) await new Promise(setImmediate);
    expect(seen.deref()).to.equal(undefined);
  });
});
