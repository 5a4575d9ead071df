import { expect } from 'chai';
import { real } from '../../../test/builders/kernel-states.ts';
import { port } from '../../../test/builders/net.ts';
import { realAt, realFinder, realOfKey, realsByKey } from './real-servers.ts';
import { realServerKey } from './state.ts';

describe('kernel/ipvs/real-servers', () => {
  for (const count of [1, 24, 25, 300]) {
    it(`finds each of ${count} by address and port, and no other`, () => {
      const reals = Array.from({ length: count }, (_, index) =>
        real(`10.180.${index >> 8}.${index & 255}`, { port: port(8000 + (index % 3)), weight: index }),
      );
      const find = realFinder(reals);
      for (const each of reals) {
        const { address } = each;
        expect(find({ address, port: each.port })).to.equal(each);
        expect(realAt(reals, each)).to.equal(each);
        expect(realOfKey(reals, realServerKey(each))).to.equal(each);
        expect(realsByKey(reals).get(realServerKey(each))).to.equal(each);
        expect(find({ address, port: port(9000) })).to.equal(undefined);
        expect(realAt(reals, { address, port: port(9000) })).to.equal(undefined);
      }
      expect(find(real('10.181.0.1'))).to.equal(undefined);
      expect(realOfKey(reals, realServerKey(real('10.181.0.1')))).to.equal(undefined);
    });
  }
});
