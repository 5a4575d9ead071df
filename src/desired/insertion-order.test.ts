import { expect } from 'chai';
import { startAnywhere } from './insertion-order.ts';

describe('desired/insertion-order', () => {
  const list = ['a', 'b', 'c', 'd', 'e'];

  it('keeps who follows whom', () => {
    for (let seed = 0; seed < 20; seed += 1) {
      expect('abcdeabcde').to.include(startAnywhere(list, `node-${seed} shop/cart:http`).join(''));
    }
  });

  it('gives the same seed the same order, and begins everywhere', () => {
    const seeds = Array.from({ length: 50 }, (_, index) => `node-${index} shop/cart:http`);
    const firsts = (): readonly unknown[] => seeds.map((seed) => startAnywhere(list, seed)[0]);
    expect(firsts()).to.deep.equal(firsts());
    expect(new Set(firsts())).to.deep.equal(new Set(list));
  });

  for (const short of [[], ['a']]) {
    it(`leaves a list of ${short.length} as it is`, () => expect(startAnywhere(short, 'node-a')).to.equal(short));
  }
});
