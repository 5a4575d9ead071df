import { expect } from 'chai';
import { parseNodePortAddress } from './node-port-addresses.ts';

describe('config/node-port-addresses', () => {
  const cases: [unknown, string[] | undefined][] = [
    ['10.0.0.5/8', ['10.0.0.0/8']],
    ['FD00::/64', ['fd00::/64']],
    ['primary', ['primary']],
    ['localhost', ['127.0.0.0/8', '::1/128']],
    ['all', ['0.0.0.0/0', '::/0']],
    ['Primary', undefined],
    ['10.0.0.5', undefined],
    ['', undefined],
    ['constructor', undefined],
    [5, undefined],
  ];
  for (const [value, expected] of cases) {
    it(`reads ${JSON.stringify(value)} as ${expected?.join(' and ') ?? 'an error'}`, () =>
      expect(parseNodePortAddress(value)).to.deep.equal(expected));
  }
});
