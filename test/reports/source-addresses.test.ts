import { expect } from 'chai';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import { describeProblem } from '../../src/model/problem.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { cidr } from '../builders/net.ts';
import { endpointJson } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, cart, ELSEWHERE, HERE, POD_RANGE } from './cart.ts';
import { everyPage } from './pages.ts';

describe('test/reports/source-addresses', () => {
  it('R50: a Pod that reaches itself through its Service is masqueraded, and no other Pod is', async () => {
    const node = new NodeUnderTest();
    await node.apply(balancedCart());
    expect(node.set('KUBE-LOOP-BACK')).to.deep.equal(['10.180.0.5,tcp:8080,10.180.0.5']);
    expect(node.rules('nat', 'KUBE-POSTROUTING')[0]).to.match(/KUBE-LOOP-BACK dst,dst,src -j MASQUERADE$/);
  });

  it('R51: the node calls a cluster address as itself, known by its source when no Pod range is', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}, [ELSEWHERE]));
    expect(markingRules(node)).to.have.lengthOf(1);
    expect(markingRules(node)[0]).to.match(/^-m comment .* --match-set KUBE-CLUSTER-IP src,dst -j KUBE-MARK-MASQ$/);
    expect(node.set('KUBE-CLUSTER-IP')).to.deep.equal(['172.20.1.1,tcp:80']);
  });

  it('R51: the node calls a cluster address as itself, known by not being in the Pod range', async () => {
    const node = new NodeUnderTest({ settings: { detectLocal: { kind: 'cluster-cidr', cidrs: [cidr(POD_RANGE)] } } });
    await node.apply(cart({}, [ELSEWHERE]));
    expect(markingRules(node)).to.have.lengthOf(1);
    expect(markingRules(node)[0]).to.match(
      /^! -s 10\.180\.0\.0\/16 .* --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-MARK-MASQ$/,
    );
  });

  for (const ipMode of ['VIP', undefined]) {
    it(`R53: an address that a balancer proxies is neither bound nor served, one with ipMode ${ipMode} is`, async () => {
      const node = new NodeUnderTest();
      const ingress = [
        { ip: '203.0.113.5', ipMode },
        { ip: '203.0.113.6', ipMode: 'Proxy' },
      ];
      await node.apply(balancedCart({ ingress }));
      expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
      const frontends = node.ipvs().flatMap((line) => (line.startsWith('-A') ? (line.split(' ')[2] ?? '') : []));
      expect(frontends).to.deep.equal(['172.20.1.1:80', '192.168.0.10:30080', '203.0.113.5:80']);
      expect(node.kernel.ipsets.save()).to.not.include('203.0.113.6');
    });
  }

  it('R54: an endpoint on a loopback address is programmed, and told of once, by its Service or slice and its address', async () => {
    const objects = cart({}, [HERE, endpointJson('127.0.0.1', 'node-a')]);
    const node = new NodeUnderTest();
    const { families } = await node.apply(objects);
    const problems = [
      ...decodeObjects(objects).problems,
      ...families.flatMap(({ state }) => state.desired?.problems ?? []),
    ];
    const told = problems.map(describeProblem).filter((text) => text.includes('127.0.0.1'));
    expect(told).to.have.lengthOf(1);
    expect(told[0]).to.include('shop/cart');
    expect(node.ipvs()).to.deep.equal([
      '-A -t 172.20.1.1:80 -s rr',
      '-a -t 172.20.1.1:80 -r 10.180.0.5:8080 -m -w 1',
      '-a -t 172.20.1.1:80 -r 127.0.0.1:8080 -m -w 1',
    ]);
  });

  it('R54: the documentation says that an endpoint on a loopback address is programmed', () =>
    expect(everyPage()).to.match(/endpoint (at|on) a loop-?back address.{0,60}\b(programmed|served|kept)\b/i));

  it('R55: no rule sets, tests or clears any other bit of the mark than the configured one', async () => {
    const node = new NodeUnderTest({ settings: { masqueradeBit: 15 } });
    await node.apply(balancedCart({ externalIPs: ['198.51.100.7'] }));
    for (const family of FAMILIES) {
      const marks = [...node.kernel.tables[family].save().matchAll(/--(?:mark|set-xmark) (\S+)/g)].map(
        ([, mark]) => mark,
      );
      expect(new Set(marks), family).to.deep.equal(new Set(['0x8000/0x8000', '0x8000/0x0']));
      expect(node.kernel.tables[family].save()).to.not.match(/0x4000|--(or|and|set|save|restore)-mark/);
    }
  });
});

/** Rules that ask for masquerading of traffic to cluster addresses. */
function markingRules(node: NodeUnderTest): readonly string[] {
  return node.rules('nat', 'KUBE-SERVICES').filter((rule) => /KUBE-CLUSTER-IP .* -j KUBE-MARK-MASQ$/.test(rule));
}
