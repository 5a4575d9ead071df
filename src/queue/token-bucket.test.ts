import { expect } from 'chai';
import fc from 'fast-check';
import { TokenBucket } from './token-bucket.ts';

describe('queue/token-bucket', () => {
  it('lets a burst pass, then one at each interval', () => {
    const bucket = new TokenBucket({ perSecond: 50, burst: 3 }, 1_000);
    const times = Array.from({ length: 6 }, () => bucket.reserve(1_000));
    expect(times).to.deep.equal([1_000, 1_000, 1_000, 1_020, 1_040, 1_060]);
  });

  it('fills again with time, up to the burst', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, 0);
    const at = (...times: readonly number[]) => times.map((nowMs) => bucket.reserve(nowMs) - nowMs);
    expect(at(0, 0, 0)).to.deep.equal([0, 0, 100]);
    expect(at(200, 200)).to.deep.equal([0, 100]);
    expect(at(60_000, 60_000, 60_000)).to.deep.equal([0, 0, 100]);
  });

  it('is not emptied by a clock that stands still or goes back', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 2 }, 5_000);
    expect(bucket.reserve(4_000)).to.equal(4_000);
    expect(bucket.reserve(5_000)).to.equal(5_000);
    expect(bucket.reserve(5_000)).to.equal(6_000);
  });

  it('never lets more pass than burst and rate allow, nor makes anybody wait without need', () => {
    const any = fc.record({
      perSecond: fc.integer({ min: 1, max: 100 }),
      burst: fc.integer({ min: 1, max: 5 }),
      pausesMs: fc.array(fc.nat(100), { maxLength: 40 }),
    });
    fc.assert(
      fc.property(any, ({ perSecond, burst, pausesMs }) => {
        const bucket = new TokenBucket({ perSecond, burst }, 0);
        let nowMs = 0;
        const times = pausesMs.map((pauseMs) => {
          nowMs += pauseMs;
          return bucket.reserve(nowMs);
        });
        for (const [index, atMs] of times.entries()) {
          const before = times[index - burst] ?? Number.NEGATIVE_INFINITY;
          expect(atMs - before).to.be.at.least((1_000 / perSecond) * 0.999);
        }
        for (let from = 0; from < times.length; from++) {
          const tokens = times.length - from;
          const spanMs = (times.at(-1) ?? 0) - (times[from] ?? 0);
          expect(tokens).to.be.at.most(burst + (spanMs * perSecond) / 1_000 + 1e-6 * tokens + 1e-6);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('gives a token only when there is one, to who does not want to wait', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 2 }, 0);
    expect([0, 0, 0, 999, 1000, 1000].map((nowMs) => bucket.take(nowMs))).to.deep.equal([
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
  });

  it('refuses impossible numbers', () => {
    expect(() => new TokenBucket({ perSecond: 0, burst: 1 }, 0)).to.throw(RangeError);
    expect(() => new TokenBucket({ perSecond: 1, burst: 0 }, 0)).to.throw(RangeError);
    expect(() => new TokenBucket({ perSecond: Number.NaN, burst: 1 }, 0)).to.throw(RangeError);
  });
});
