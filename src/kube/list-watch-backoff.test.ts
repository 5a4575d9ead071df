import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { Backoff } from './list-watch-backoff.ts';

describe('kube/list-watch-backoff', () => {
  it('doubles its limit from 0.8 s to 30 s', () => {
    const backoff = new Backoff(new SteppedClock(), () => 1);
    const delays = Array.from({ length: 8 }, () => backoff.next());
    expect(delays).to.deep.equal([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('picks any delay up to the limit, but none below what the server asks for', () => {
    const backoff = new Backoff(new SteppedClock(), () => 0.25);
    expect([backoff.next(), backoff.next(), backoff.next(5000)]).to.deep.equal([200, 400, 5000]);
  });

  it('begins anew after two minutes without a failure, counted from the end of the last wait', async () => {
    const clock = new SteppedClock();
    const backoff = new Backoff(clock, () => 1);
    for (let n = 0; n < 7; n += 1) backoff.next();
    await clock.advance(30_000 + 119_999);
    expect(backoff.next()).to.equal(30_000);
    await clock.advance(30_000 + 120_000);
    expect(backoff.next()).to.equal(800);
  });
});
