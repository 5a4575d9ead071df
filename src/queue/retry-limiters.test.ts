import { expect } from 'chai';
import type { RetrySort } from './change.ts';
import { RetryLimiters } from './retry-limiters.ts';
import { DEFAULT_QUEUE_SETTINGS } from './settings.ts';

describe('queue/retry-limiters', () => {
  const limiters = (random = 0) => new RetryLimiters(DEFAULT_QUEUE_SETTINGS, () => random);
  const delays = (sort: RetrySort, count: number, from = limiters()) =>
    Array.from({ length: count }, () => from.failed('shop/cart', sort));

  it('tries readiness fast five times, then slowly', () => {
    expect(delays('readiness', 7)).to.deep.equal([50, 50, 50, 50, 50, 2_000, 2_000]);
  });

  it('tries an update after twice the time of before, up to a minute', () => {
    expect(delays('update', 9)).to.deep.equal([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(delays('update', 2_000).at(-1)).to.equal(60_000);
  });

  it('tries what is minor three times, then more slowly', () => {
    expect(delays('minor', 5)).to.deep.equal([2_000, 2_000, 2_000, 10_000, 10_000]);
  });

  it('begins anew after it has forgotten, and counts each Service alone', () => {
    const some = limiters();
    delays('readiness', 6, some);
    expect(some.failed('shop/other', 'readiness')).to.equal(50);
    some.forget('shop/cart');
    expect([some.failures('shop/cart'), some.failures('shop/other')]).to.deep.equal([0, 1]);
    expect(some.failed('shop/cart', 'readiness')).to.equal(50);
  });

  it('counts on when the sort differs', () => {
    const some = limiters();
    delays('readiness', 3, some);
    expect(some.failed('shop/cart', 'update')).to.equal(4_000);
  });

  it('adds up to a tenth by chance, and never takes anything away', () => {
    expect(delays('update', 2, limiters(0.5))).to.deep.equal([525, 1_050]);
    expect(limiters(0.999_999).failed('shop/cart', 'readiness')).to.be.within(54.9, 55);
  });
});
