import { expect } from 'chai';
import { parsePortRange } from './port-range.ts';

describe('config/port-range', () => {
  for (const range of ['', '0-0', '80', '1000-2000', '1000+100', '65535']) {
    it(`accepts ${JSON.stringify(range)}`, () => expect(parsePortRange(range)).to.equal(range));
  }
  for (const range of ['2000-1000', '65535+1', '0-5', '1-65536', 'a-b', '1-2-3', '-5', 5]) {
    it(`refuses ${JSON.stringify(range)}`, () => expect(parsePortRange(range)).to.equal(undefined));
  }
});
