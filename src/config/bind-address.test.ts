import { expect } from 'chai';
import { parseBindAddress } from './bind-address.ts';

describe('config/bind-address', () => {
  const cases: [string, [string, number | undefined] | undefined][] = [
    ['127.0.0.1', ['127.0.0.1', undefined]],
    ['127.0.0.1:10249', ['127.0.0.1', 10249]],
    ['::', ['::', undefined]],
    ['[::]:10256', ['::', 10256]],
    ['[FD00::0001]:1', ['fd00::1', 1]],
    ['fd00::1', ['fd00::1', undefined]],
    ['[::1]', undefined],
    ['[127.0.0.1]:80', undefined],
    ['127.0.0.1:0', undefined],
    ['127.0.0.1:65536', undefined],
    ['127.0.0.1:', undefined],
    ['127.0.0.1:http', undefined],
    [':10249', undefined],
    ['localhost:10249', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of cases) {
    it(`reads ${JSON.stringify(text)} as ${expected ? expected.join(' port ') : 'no address'}`, () => {
      const parsed = parseBindAddress(text);
      expect(parsed && [parsed.address, parsed.port]).to.deep.equal(expected);
    });
  }
});
