import { expect } from 'chai';
import { laterOf } from './max-delay.ts';

describe('queue/max-delay', () => {
  it('lets the longer wait win, whichever it is', () => {
    expect(laterOf(30_000, 1_000)).to.equal(30_000);
    expect(laterOf(0, 1_000)).to.equal(1_000);
    expect(laterOf(Number.POSITIVE_INFINITY, 0)).to.equal(Number.POSITIVE_INFINITY);
  });
});
