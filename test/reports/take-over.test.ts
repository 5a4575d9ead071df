import { expect } from 'chai';
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
});
