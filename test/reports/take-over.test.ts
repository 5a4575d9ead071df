import { expect } from 'chai';
import type { MemoryKernel } from '../kernel/memory-kernel.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart } from './cart.ts';

describe('test/reports/take-over', () => {
  it('R128: starts again over a kernel that is as the objects are, and writes nothing', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({ externalIPs: ['203.0.113.5'] }));
    node.takeScripts();
    node.restart();
    for (const kind of ['full', 'normal'] as const) await node.apply(cart({ externalIPs: ['203.0.113.5'] }), kind);
    expect(node.takeScripts()).to.deep.equal([]);
  });

  it('R130: leaves the virtual server of another program, and removes one that no Service names at an address of ours', async () => {
    const node = new NodeUnderTest();
    const { kernel } = node;
    kernel.ipvs.restore('-A -t 198.51.100.9:25 -s wlc\n-A -t 203.0.113.7:80 -s rr\n');
    kernel.addresses.batch('link add kube-ipvs0 type dummy\naddress replace 203.0.113.7/32 dev kube-ipvs0\n');
    for (const kind of ['full', 'normal', 'full'] as const) {
      await node.apply(cart({}), kind);
      expect(node.ipvs()).to.include('-A -t 198.51.100.9:25 -s wlc');
      expect(node.ipvs().join('\n')).to.not.include('203.0.113.7');
      expect(node.bound()).to.deep.equal(['172.20.1.1']);
    }
  });

  it('R130: removes what was of an external address that was taken away while nobody was running', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({ externalIPs: ['203.0.113.7'] }));
    expect(node.bound()).to.include('203.0.113.7');
    node.restart();
    await node.apply(cart({}), 'full');
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
    expect(node.ipvs().join('\n')).to.not.include('203.0.113.7');
    expect(node.kernel.ipsets.save()).to.not.include('203.0.113.7');
  });

  const wrongs: readonly (readonly [what: string, change: (kernel: MemoryKernel) => void])[] = [
    ['virtual server that is gone', ({ ipvs }) => ipvs.restore('-D -t 172.20.1.1:80\n')],
    ['real server that is gone', ({ ipvs }) => ipvs.restore('-d -t 172.20.1.1:80 -r 10.180.1.5:8080\n')],
    ['real server of weight 0', ({ ipvs }) => ipvs.restore('-e -t 172.20.1.1:80 -r 10.180.1.5:8080 -m -w 0\n')],
    ['set entry that is gone', ({ ipsets }) => ipsets.restore('del KUBE-CLUSTER-IP 172.20.1.1,6:80\n')],
    ['chain that is empty', ({ tables }) => tables.IPv4.restore('*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n')],
    ['address that is gone', ({ addresses }) => addresses.batch('address delete 172.20.1.1/32 dev kube-ipvs0\n')],
  ];
  for (const [what, change] of wrongs) {
    it(`R132: the full pass of a sync period mends a ${what}, without any event of the API`, async () => {
      const node = new NodeUnderTest();
      await node.apply(cart({}));
      const sets = () => node.kernel.ipsets.save().split('\n').sort();
      const state = () => [node.ipvs(), sets(), node.bound(), node.kernel.tables.IPv4.save()];
      const before = state();
      change(node.kernel);
      expect(state()).to.not.deep.equal(before);
      await node.pass('full');
      expect(state()).to.deep.equal(before);
    });
  }
});
