import { expect } from 'chai';
import { SimulatedClock } from './simulated-clock.ts';

describe('replay/simulated-clock', () => {
  it('fires timers in order of their time, then of their creation, each at its own time', async () => {
    const clock = new SimulatedClock();
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name} ${clock.nowMs()}`);
    clock.after(20, note('late'));
    clock.after(10, note('first'));
    clock.after(10, note('second'));
    await clock.advanceTo(15);
    expect(fired).to.deep.equal(['first 10', 'second 10']);
    expect(clock.nowMs()).to.equal(15);
    await clock.advanceTo(20);
    expect(fired.at(-1)).to.equal('late 20');
  });

  it('never calls a timer at once, not even one without a delay', async () => {
    const clock = new SimulatedClock();
    let fired = false;
    clock.after(0, () => {
      fired = true;
    });
    expect(fired).to.equal(false);
    await clock.advanceTo(0);
    expect(fired).to.equal(true);
  });

  it('forgets timers that are cancelled', async () => {
    const clock = new SimulatedClock();
    const cancel = clock.after(10, () => expect.fail('it was cancelled'));
    cancel();
    cancel();
    expect(await clock.advanceToNext()).to.equal(false);
  });

  it('lets what waits for a timer go on before the next one fires', async () => {
    const clock = new SimulatedClock();
    const seen: number[] = [];
    const walk = async () => {
      for (const ms of [10, 10]) {
        await clock.wait(ms);
        seen.push(clock.nowMs());
      }
    };
    const walking = walk();
    await clock.advanceTo(1_000_000);
    await walking;
    expect(seen).to.deep.equal([10, 20]);
  });
});
