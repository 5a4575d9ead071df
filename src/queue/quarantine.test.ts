import { expect } from 'chai';
import { Quarantine } from './quarantine.ts';

describe('queue/quarantine', () => {
  it('tells once that a Service keeps failing, and once that it was applied', () => {
    const quarantine = new Quarantine(3);
    const failed = [10, 20, 30, 40].map((nowMs) => quarantine.failed('shop/cart', nowMs));
    const entered = { kind: 'quarantined', service: 'shop/cart', sinceMs: 30, failures: 3 };
    expect(failed).to.deep.equal([undefined, undefined, entered, undefined]);
    expect(quarantine.list()).to.deep.equal([{ service: 'shop/cart', sinceMs: 30, failures: 4 }]);
    expect(quarantine.applied('shop/cart')).to.deep.equal({ ...entered, kind: 'released', failures: 4 });
    expect(quarantine.applied('shop/cart')).to.equal(undefined);
    expect([quarantine.list(), quarantine.size]).to.deep.equal([[], 0]);
  });

  it('counts failures in a row only, each Service alone', () => {
    const quarantine = new Quarantine(2);
    quarantine.failed('shop/cart', 0);
    expect(quarantine.applied('shop/cart')).to.equal(undefined);
    quarantine.failed('shop/cart', 1);
    quarantine.failed('shop/other', 2);
    expect([quarantine.has('shop/cart'), quarantine.has('shop/other'), quarantine.size]).to.deep.equal([
      false,
      false,
      0,
    ]);
    quarantine.failed('shop/cart', 3);
    expect([quarantine.has('shop/cart'), quarantine.has('shop/other'), quarantine.size]).to.deep.equal([
      true,
      false,
      1,
    ]);
  });
});
