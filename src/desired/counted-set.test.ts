import { expect } from 'chai';
import fc from 'fast-check';
import { CountedSet } from './counted-set.ts';

describe('desired/counted-set', () => {
  it('has a value from its first owner to its last, and tells of both', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.constantFrom('a', 'b'))), (calls) => {
        const counted = new CountedSet<string>();
        const counts = new Map<string, number>();
        for (const [isAdd, value] of calls) {
          const before = counts.get(value) ?? 0;
          const after = Math.max(0, before + (isAdd ? 1 : -1));
          counts.set(value, after);
          const changed = isAdd ? counted.add(value) : counted.remove(value);
          expect(changed).to.equal(before > 0 !== after > 0);
          expect([...counted.values].sort()).to.deep.equal(['a', 'b'].filter((each) => (counts.get(each) ?? 0) > 0));
        }
      }),
    );
  });
});
