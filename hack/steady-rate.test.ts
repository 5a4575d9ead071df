import { expect } from 'chai';
import { SteadyRate } from './steady-rate.ts';

describe('hack/steady-rate', () => {
  it('keeps the rate, however late and unevenly somebody looks', () => {
    const rate = new SteadyRate(200, 1000);
    const looks = [1050, 1104, 1104, 1107, 1500, 2000];
    expect(looks.map((nowMs) => rate.take(nowMs))).to.deep.equal([10, 10, 0, 1, 79, 100]);
    expect(rate.reached()).to.equal(200);
  });

  it('loses no part of one between two looks', () => {
    const rate = new SteadyRate(3, 0);
    let taken = 0;
    for (let nowMs = 1; nowMs <= 10_000; nowMs += 1) taken += rate.take(nowMs);
    expect(taken).to.equal(30);
  });
});
