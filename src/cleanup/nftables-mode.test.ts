import { expect } from 'chai';
import { nftablesModeTables, renderTableDeletions } from './nftables-mode.ts';

describe('cleanup/nftables-mode', () => {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['table ip kube-proxy\ntable ip6 kube-proxy\n', ['IPv4', 'IPv6']],
    ['table ip nat\ntable ip6 kube-proxy\ntable inet kube-proxy\n', ['IPv6']],
    ['table ip kube-proxy-other\ntable ip my kube-proxy\n', []],
  ];
  for (const [text, families] of lists) {
    it(`finds ${families.join(', ') || 'nothing'} in ${JSON.stringify(text)}`, () =>
      expect(nftablesModeTables(text)).to.deep.equal(families));
  }

  it('deletes just those', () => {
    expect(renderTableDeletions(['IPv4', 'IPv6'])).to.equal(
      'delete table ip kube-proxy\ndelete table ip6 kube-proxy\n',
    );
    expect(renderTableDeletions([])).to.equal('');
  });
});
