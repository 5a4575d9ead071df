import { expect } from 'chai';
import { cidr, ip } from '../../test/builders/net.ts';
import { nodeView } from '../../test/builders/objects.ts';
import type { Family } from '../net/family.ts';
import { healthAddresses } from './health-addresses.ts';

describe('observe/health-addresses', () => {
  const node = nodeView({
    addresses: [ip('192.168.0.10')],
    interfaces: {
      lo: ['127.0.0.1/8', '::1/128'],
      eth0: ['192.168.0.10/24', '192.168.0.9/24', 'fd00:168::10/64', 'fe80::10/64'],
      'kube-ipvs0': ['172.20.1.1/32', '192.168.0.77/32'],
    },
  });
  const chosen = (
    family: Family,
    ranges: readonly string[],
    behaviour: 'documented' | 'kube-proxy' = 'documented',
    bindAddress = '0.0.0.0',
  ) =>
    healthAddresses(
      family,
      {
        behaviour,
        bindAddress: ip(bindAddress),
        nodePortAddresses: ranges.map((range) => (range === 'primary' ? range : cidr(range))),
      },
      node,
    );

  it('is everywhere without ranges, and with one of all addresses', () => {
    expect([chosen('IPv4', []), chosen('IPv6', [])]).to.deep.equal(['everywhere', 'everywhere']);
    expect(chosen('IPv4', ['0.0.0.0/0', '10.0.0.0/8'])).to.equal('everywhere');
    expect(chosen('IPv6', ['::/0'])).to.equal('everywhere');
  });

  it('takes the addresses inside the ranges, never those of Services', () => {
    expect(chosen('IPv4', ['192.168.0.0/24'])).to.deep.equal(['192.168.0.10', '192.168.0.9']);
    expect(chosen('IPv4', ['127.0.0.0/8'])).to.deep.equal(['127.0.0.1']);
    expect(chosen('IPv4', ['172.20.0.0/16'])).to.deep.equal([]);
    expect(chosen('IPv6', ['fe80::/10', 'fd00:168::/64'])).to.deep.equal(['fd00:168::10']);
  });

  it("takes the Node's first address of the family for `primary`", () => {
    expect(chosen('IPv4', ['primary'])).to.deep.equal(['192.168.0.10']);
    expect(chosen('IPv6', ['primary'])).to.deep.equal([]);
    expect(chosen('IPv4', ['primary'], 'documented', '192.168.0.9')).to.deep.equal(['192.168.0.9']);
  });

  it('is nowhere in a family without a range, in kube-proxy everywhere', () => {
    expect(chosen('IPv6', ['192.168.0.0/24'])).to.deep.equal([]);
    expect(chosen('IPv6', ['192.168.0.0/24'], 'kube-proxy')).to.equal('everywhere');
  });
});
