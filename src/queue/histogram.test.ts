import { expect } from 'chai';
import { Histogram } from './histogram.ts';

describe('queue/histogram', () => {
  it('counts values at or below each bound, and all of them', () => {
    const histogram = new Histogram([0.1, 1]);
    for (const value of [0.1, 0.2, 1, 5]) histogram.observe(value);
    const { buckets, count, sum } = histogram.read();
    expect(buckets.map(({ upTo, count: upToCount }) => [upTo, upToCount])).to.deep.equal([
      [0.1, 1],
      [1, 3],
      [Number.POSITIVE_INFINITY, 4],
    ]);
    expect([count, sum]).to.deep.equal([4, 6.3]);
  });
});
