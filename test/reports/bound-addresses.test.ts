import { expect } from 'chai';
import { describeProblem } from '../../src/model/problem.ts';
import { LINKS, NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, cart, NODE_PORT, otherService } from './cart.ts';
import { everyPage } from './pages.ts';
import { sysctlsAfterStart } from './start-node.ts';

describe('test/reports/bound-addresses', () => {
  it('R58: an address of another Node is neither bound nor served here, the Service is told of, and the rest is served', async () => {
    const node = new NodeUnderTest();
    const report = await node.apply(cart({ externalIPs: ['192.168.0.11', 'fd00:168::11', '198.51.100.7'] }));
    expect(node.bound()).to.deep.equal(['172.20.1.1', '198.51.100.7']);
    expect(node.ipvs().join('\n')).to.not.include('192.168.0.11');
    expect(node.kernel.ipsets.save()).to.not.include('192.168.0.11');
    const problems = report.families.flatMap(({ state }) => state.desired?.problems ?? []).map(describeProblem);
    expect(problems.filter((text) => text.includes('shop/cart') && text.includes('192.168.0.11'))).to.have.lengthOf(1);
  });

  it('R58: an address that a Node gets later is given up here, and taken back when that Node has lost it', async () => {
    const node = new NodeUnderTest();
    const [own, , ...rest] = cart({ externalIPs: ['192.168.0.11'] });
    const alone = [own ?? {}, ...rest];
    await node.apply(alone);
    expect(node.bound()).to.deep.equal(['172.20.1.1', '192.168.0.11']);
    await node.apply(cart({ externalIPs: ['192.168.0.11'] }));
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
    await node.apply(alone);
    expect(node.bound()).to.deep.equal(['172.20.1.1', '192.168.0.11']);
  });

  for (const [strictARP, ignore, announce] of [
    [true, '1', '2'],
    [false, '0', '0'],
  ] as const) {
    it(`R60: with strictARP ${strictARP} the two ARP sysctls are ${ignore} and ${announce} on a node that had 0 and 0`, async () => {
      const [arpIgnore, arpAnnounce] = ['net/ipv4/conf/all/arp_ignore', 'net/ipv4/conf/all/arp_announce'] as const;
      const before = { [arpIgnore]: '0', [arpAnnounce]: '0' };
      const after = await sysctlsAfterStart(`ipvs:\n  strictARP: ${strictARP}\n`, before);
      expect([after[arpIgnore], after[arpAnnounce]]).to.deep.equal([ignore, announce]);
    });
  }

  it('R61: every served address is bound, but for those of the node', async () => {
    const node = new NodeUnderTest();
    await node.apply(balancedCart({ externalIPs: ['198.51.100.7'] }));
    expect(node.bound()).to.deep.equal(['172.20.1.1', '198.51.100.7', '203.0.113.5']);
  });

  it('R62: an address stays bound until the last port at it has gone', async () => {
    const node = new NodeUnderTest();
    const [http, https] = [80, 443].map((port) => ({ name: `p${port}`, protocol: 'TCP', port }));
    await node.apply(cart({ ports: [http ?? {}, https ?? {}] }));
    node.takeScripts();
    await node.apply(cart({ ports: [https ?? {}] }));
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
    expect(node.takeScripts().filter((script) => script.startsWith('ip:'))).to.deep.equal([]);
    expect(node.ipvs()).to.deep.equal(['-A -t 172.20.1.1:443 -s rr']);
    await node.apply([]);
    expect(node.bound()).to.deep.equal([]);
  });

  it('R64: a link-local address of the dummy interface stays, and nothing is tried with it', async () => {
    const node = new NodeUnderTest({ links: { ...LINKS, 'kube-ipvs0': ['fe80::a8bb:ccff:fedd:1/64'] } });
    await node.apply(cart({}));
    node.takeScripts();
    for (const kind of ['normal', 'full'] as const) await node.pass(kind);
    expect(node.takeScripts()).to.deep.equal([]);
    expect(node.bound()).to.deep.equal(['172.20.1.1', 'fe80::a8bb:ccff:fedd:1']);
  });

  it('R65: 5,000 Services bind one address each, counted, in one process; a change costs one line', async () => {
    const node = new NodeUnderTest();
    const clusterIP = (index: number) => `172.21.${index >> 8}.${index & 255}`;
    const services = Array.from({ length: 5000 }, (_, index) => otherService(index, clusterIP(index))).flat();
    const report = await node.apply(services);
    expect(node.bound()).to.have.lengthOf(5000);
    expect(report.families[0]?.state.desired.kernel.dummy.addresses.size).to.equal(5000);
    expect(node.takeScripts().filter((script) => script.startsWith('ip: address'))).to.have.lengthOf(1);
    await node.apply(services.slice(2));
    const binding = node.takeScripts().filter((script) => script.startsWith('ip:'));
    expect(binding).to.deep.equal([`ip: address delete ${clusterIP(0)}/32 dev kube-ipvs0\n`]);
  }).timeout(30_000);

  it('R65: the documentation says what an address for each Service costs programs that list addresses', () =>
    expect(everyPage()).to.match(/lists? (all |the )?(node's )?addresses/i));

  it('R67: an address of the node has its node ports also when it is the address of a load balancer', async () => {
    const node = new NodeUnderTest();
    const objects = balancedCart({ ports: [NODE_PORT], ingress: [{ ip: '192.168.0.10' }] });
    for (const kind of ['normal', 'full'] as const) {
      await node.apply(objects, kind);
      expect(node.ipvs().filter((line) => line.startsWith('-A'))).to.deep.equal([
        '-A -t 172.20.1.1:80 -s rr',
        '-A -t 192.168.0.10:30080 -s rr',
        '-A -t 192.168.0.10:80 -s rr',
      ]);
      expect(node.bound()).to.deep.equal(['172.20.1.1']);
    }
  });
});
