import { expect } from 'chai';
import { parseLinks, parseUplinks } from './parse-links.ts';

describe('kernel/dummy/parse-links', () => {
  it('reads kind, flags and addresses of every interface', () => {
    const text = JSON.stringify([
      { ifname: 'eth0', flags: ['UP'], addr_info: [{ local: '192.168.0.10', prefixlen: 24 }] },
      {},
      { ifname: 'kube-ipvs0', flags: ['NOARP'], linkinfo: { info_kind: 'dummy' }, addr_info: [] },
    ]);
    expect(parseLinks(text)).to.deep.equal([
      { name: 'eth0', kind: 'none', flags: ['UP'], addresses: [{ address: '192.168.0.10', prefixLength: 24 }] },
      { name: 'kube-ipvs0', kind: 'dummy', flags: ['NOARP'], addresses: [] },
    ]);
  });

  it('reads interfaces of default routes, several of one route too', () => {
    const text = '[{"dst":"default","dev":"eth0"},{"dst":"default","nexthops":[{"dev":"eth1"},{"dev":"eth2"}]}]';
    expect([...(parseUplinks(text) ?? [])]).to.deep.equal(['eth0', 'eth1', 'eth2']);
    expect(parseUplinks('')).to.deep.equal(new Set());
  });

  it('takes nothing else', () => {
    expect(parseLinks('Object "address" is unknown')).to.equal(undefined);
    expect(parseUplinks('{}')).to.equal(undefined);
    expect(parseUplinks('no JSON')).to.equal(undefined);
  });
});
