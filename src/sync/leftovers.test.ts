import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import type { Refused } from '../plan/refused.ts';
import { type Leftover, leftoversAfter } from './leftovers.ts';

describe('sync/leftovers', () => {
  const refused: Refused = { kind: 'address', address: ip('172.20.9.9'), change: 'deletion' };
  const said = { refused, message: 'no' };

  it('has a thing tried in the next two passes, and then less and less often', () => {
    let left: readonly Leftover[] = [];
    let passes = 0;
    const tried: number[] = [];
    while (tried.length < 10) {
      const isHeldBack = (left[0]?.waits ?? 0) > 0;
      left = leftoversAfter(left, () => isHeldBack, isHeldBack ? [] : [{ ...said, refused: { ...refused } }]);
      if (!isHeldBack) tried.push(passes);
      passes += 1;
      expect(left).to.have.lengthOf(1);
    }
    expect(tried).to.deep.equal([0, 1, 2, 4, 8, 16, 32, 64, 128, 192]);
  });

  it('forgets what is gone, and what somebody wants again', () => {
    const left = leftoversAfter([], () => false, [said]);
    expect(leftoversAfter(left, () => false, [])).to.deep.equal([]);
  });
});
