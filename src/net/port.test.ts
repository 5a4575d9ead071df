import { expect } from 'chai';
import { parsePort } from './port.ts';

describe('net/port', () => {
  for (const value of [1, 80, 30080, 65535]) {
    it(`accepts ${value}`, () => expect(parsePort(value)).to.equal(value));
  }
  for (const value of [0, -1, 65536, 70000, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '80', null, undefined, true]) {
    it(`refuses ${typeof value === 'string' ? JSON.stringify(value) : value}`, () =>
      expect(parsePort(value)).to.equal(undefined));
  }
});
