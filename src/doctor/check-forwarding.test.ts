import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import type { Cidr } from '../net/cidr.ts';
import { checkForwarding } from './check-forwarding.ts';
import { dummy, HEALTHY, inShort, link, WISHES, withSettings } from './facts-fixture.ts';

describe('doctor/check-forwarding', () => {
  const bridge = (name: string) => succeed([link(name, [], { kind: 'bridge' })]);

  it('finds nothing on a healthy node', () => expect(inShort(checkForwarding(HEALTHY, WISHES))).to.deep.equal([]));

  it('warns of a bridge whose packets pass by the rules', () => {
    const setting = 'net/bridge/bridge-nf-call-iptables';
    for (const value of [undefined, '0']) {
      const facts = { ...withSettings({ [setting]: value }), links: bridge('cni0') };
      expect(inShort(checkForwarding(facts, WISHES))).to.deep.equal(['warning bridge-not-filtered']);
    }
    const filtered = { ...withSettings({ [setting]: '1' }), links: bridge('cni0') };
    expect(inShort(checkForwarding(filtered, WISHES))).to.deep.equal([]);
    expect(inShort(checkForwarding({ ...HEALTHY, links: bridge('docker0') }, WISHES))).to.deep.equal([]);
  });

  it('warns of strict reverse paths where answers may leave elsewhere', () => {
    const uplinks = succeed(new Set(['eth0', 'eth1']));
    const strict = withSettings({ 'net/ipv4/conf/all/rp_filter': '1' });
    expect(inShort(checkForwarding({ ...strict, uplinks }, WISHES))).to.deep.equal(['warning reverse-path-strict']);
    expect(inShort(checkForwarding(strict, WISHES))).to.deep.equal([]);
    const loose = { 'net/ipv4/conf/eth0/rp_filter': '2', 'net/ipv4/conf/eth1/rp_filter': '2' };
    const facts = { ...withSettings({ 'net/ipv4/conf/all/rp_filter': '1', ...loose }), uplinks };
    expect(inShort(checkForwarding(facts, WISHES))).to.deep.equal([]);
  });

  it('names IPv6 that is served and not forwarded', () => {
    const off = withSettings({ 'net/ipv6/conf/all/forwarding': '0' });
    expect(inShort(checkForwarding(off, WISHES))).to.deep.equal([]);
    const ranges = { clusterCIDRs: ['fd00:180::/32' as Cidr] };
    expect(inShort(checkForwarding(off, ranges))).to.deep.equal(['error ipv6-not-forwarded']);
    const bound = { ...off, links: succeed([dummy(['fd00:96::10/128'])]) };
    expect(inShort(checkForwarding(bound, WISHES))).to.deep.equal(['error ipv6-not-forwarded']);
  });

  it('says what it could not look at', () => {
    const facts = { ...HEALTHY, links: fail('no ip'), uplinks: fail('no ip') };
    expect(inShort(checkForwarding(facts, WISHES))).to.deep.equal(['not checked: bridges', 'not checked: rp_filter']);
  });
});
