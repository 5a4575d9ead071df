import { expect } from 'chai';
import type { Link } from '../kernel/dummy/parse-links.ts';
import { fail, succeed } from '../model/result.ts';
import type { Cidr } from '../net/cidr.ts';
import { checkAddresses } from './check-addresses.ts';
import { dummy, HEALTHY, inShort, link, WISHES, withSettings } from './facts-fixture.ts';

describe('doctor/check-addresses', () => {
  const eth0 = link('eth0', ['192.168.0.10/24']);
  const look = (...links: readonly Link[]) =>
    checkAddresses({ ...HEALTHY, links: succeed(links) }, WISHES).findings.map(({ level, id }) => `${level} ${id}`);

  it('finds nothing where Services have addresses of their own', () => {
    expect(look(eth0, dummy(['10.96.0.10/32', '203.0.113.10/32']))).to.deep.equal([]);
  });

  it('names an address that two interfaces have', () => {
    expect(look(link('eth0', ['10.1.1.1/32']), dummy(['10.1.1.1/32']))).to.deep.equal(['error address-twice']);
  });

  it('warns of addresses in a network of the node that every node answers for', () => {
    const shown = [eth0, dummy(['192.168.0.200/32', '192.168.0.201/32'])];
    const links = succeed(shown);
    expect(look(...shown)).to.deep.equal(['warning arp-not-strict']);
    const strict = { ...withSettings({ 'net/ipv4/conf/all/arp_ignore': '1' }), links };
    expect(checkAddresses(strict, WISHES).findings).to.deep.equal([]);
    const [finding] = checkAddresses({ ...HEALTHY, links }, WISHES).findings;
    expect([finding?.saw, finding?.remedy]).to.deep.equal([
      '192.168.0.200 of kube-ipvs0 is in the network of eth0, and 1 more, and net.ipv4.conf.all.arp_ignore is 0',
      'ipvs.strictARP: true',
    ]);
  });

  it('names a range of Pods that overlaps the network of the nodes, not the one of the bridge of Pods', () => {
    const pods = link('cni0', ['10.180.1.1/24'], { kind: 'bridge' });
    expect(look(eth0, pods)).to.deep.equal([]);
    for (const range of ['192.168.0.0/16', '192.168.0.64/26']) {
      const { findings } = checkAddresses(
        { ...HEALTHY, links: succeed([eth0]) },
        { ...WISHES, clusterCIDRs: [range as Cidr] },
      );
      expect(
        findings.map(({ id }) => id),
        range,
      ).to.deep.equal(['ranges-overlap']);
    }
  });

  it('says what it could not look at', () => {
    const services = 'not checked: whether the range of Services overlaps networks of the node';
    expect(inShort(checkAddresses(HEALTHY, WISHES))).to.deep.equal([services]);
    expect(inShort(checkAddresses({ ...HEALTHY, uplinks: fail('no') }, WISHES))).to.deep.equal([
      'not checked: whether ranges of Pods overlap networks of the node',
      services,
    ]);
    expect(inShort(checkAddresses({ ...HEALTHY, links: fail('no') }, WISHES))).to.deep.equal([
      'not checked: addresses of the node',
    ]);
  });
});
