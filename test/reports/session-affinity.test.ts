import { expect } from 'chai';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, cart, HERE } from './cart.ts';
import { everyPage } from './pages.ts';
import { sysctlsAfterStart } from './start-node.ts';

describe('test/reports/session-affinity', () => {
  it('R35: affinity passes over a real server of weight 0, as the kernel is told at the start', async () => {
    const path = 'net/ipv4/vs/expire_quiescent_template';
    expect((await sysctlsAfterStart('', { [path]: '0' }))[path]).to.equal('1');
  });

  it('R35: the only endpoint replaced, affinity has nothing but the new one of weight 1', async () => {
    const node = new NodeUnderTest();
    const affine = { affinitySeconds: 10800 };
    await node.apply(cart(affine, [HERE]));
    node.kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.5:8080', 1);
    await node.apply(cart(affine, [{ ...HERE, addresses: ['10.180.0.6'] }]));
    expect(node.ipvs()).to.deep.equal([
      '-A -t 172.20.1.1:80 -s rr -p 10800',
      '-a -t 172.20.1.1:80 -r 10.180.0.5:8080 -m -w 0',
      '-a -t 172.20.1.1:80 -r 10.180.0.6:8080 -m -w 1',
    ]);
  });

  it('R36: persistence is as long as the Service asks for', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({ affinitySeconds: 5 }));
    expect(node.ipvs()).to.include('-A -t 172.20.1.1:80 -s rr -p 5');
  });

  it('R36: the documentation names the limit below which persistence does not go', () =>
    expect(everyPage()).to.match(/(affinity|persisten)[^|]{0,300}\b(120 s|120 seconds|two minutes)\b/i));

  it('R37: every virtual server of a Service with affinity is persistent', async () => {
    const node = new NodeUnderTest();
    await node.apply(balancedCart({ affinitySeconds: 10800, externalIPs: ['198.51.100.7'] }));
    expect(node.ipvs().filter((line) => line.startsWith('-A'))).to.deep.equal([
      '-A -t 172.20.1.1:80 -s rr -p 10800',
      '-A -t 192.168.0.10:30080 -s rr -p 10800',
      '-A -t 198.51.100.7:80 -s rr -p 10800',
      '-A -t 203.0.113.5:80 -s rr -p 10800',
    ]);
  });
});
