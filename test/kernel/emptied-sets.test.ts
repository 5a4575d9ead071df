import { expect } from 'chai';
import { ownSets } from '../../src/kernel/ipset/definitions.ts';
import type { DrainingSettings } from '../../src/sync/proxier.ts';
import { endpointJson, nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { NodeUnderTest } from './node-under-test.ts';
import { refuseLines } from './refusing-tools.ts';

const NODE = nodeObject('node-a', { addresses: ['192.168.0.10'] });
/** At 172.20.1.1 and node port 30080. */
const CART = [
  serviceObject('shop/cart', { type: 'NodePort', ports: [{ name: 'http', port: 80, nodePort: 30080 }] }),
  sliceObject('shop/cart-1', {
    service: 'cart',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [endpointJson('10.180.0.1', 'node-b')],
  }),
];

describe('test/kernel/emptied-sets', () => {
  /** A Service with connections is deleted. */
  async function deleted(draining: DrainingSettings): Promise<NodeUnderTest> {
    const node = new NodeUnderTest({ families: ['IPv4'], draining });
    await node.apply([NODE, ...CART]);
    for (const server of ['172.20.1.1:80', '192.168.0.10:30080']) {
      node.kernel.ipvs.connect(`-t ${server}`, '10.180.0.1:8080', 1);
    }
    node.record([NODE]);
    await node.tryPass('normal');
    return node;
  }

  function empty({ kernel }: NodeUnderTest): void {
    const { names } = ownSets('IPv4');
    kernel.ipsets.restore(names.map((name) => `flush ${name}\n`).join(''));
  }

  /** Then somebody empties all of our sets. */
  async function emptiedAfterDeletion(draining: DrainingSettings): Promise<NodeUnderTest> {
    const node = await deleted(draining);
    empty(node);
    expect((await node.tryPass('full')).errors).to.deep.equal([]);
    return node;
  }

  it('R132: an address that only refuses any more goes on doing so, and goes in the end', async () => {
    const node = await emptiedAfterDeletion({ limitMs: 0, ofDeletedServices: false, closingMs: 30_000 });
    expect([node.bound(), node.set('KUBE-IPVS-IPS')]).to.deep.equal([['172.20.1.1'], ['172.20.1.1']]);
    node.wait(30_000);
    await node.passOnce();
    expect([node.bound(), node.set('KUBE-IPVS-IPS')]).to.deep.equal([[], []]);
  });

  it('R132: the node is not reached by way of an address at which connections finish', async () => {
    const node = await emptiedAfterDeletion({ limitMs: 60_000, ofDeletedServices: true, closingMs: 0 });
    expect([node.bound(), node.set('KUBE-IPVS-IPS')]).to.deep.equal([['172.20.1.1'], ['172.20.1.1']]);
    node.restart();
    await node.apply([NODE], 'full');
    expect([node.bound(), node.set('KUBE-IPVS-IPS')]).to.deep.equal([['172.20.1.1'], ['172.20.1.1']]);
  });

  for (const [ending, bound] of [
    ['refuses', []],
    ['finishes', ['172.20.1.1']],
  ] as const) {
    it(`R132: an address that ${ending} and does not get its entry back is in the way of nothing else`, async () => {
      const isFinishing = ending === 'finishes';
      const draining = { limitMs: 60_000, ofDeletedServices: isFinishing, closingMs: isFinishing ? 0 : 30_000 };
      const node = await deleted(draining);
      empty(node);
      const end = refuseLines(node.kernel, (line) => line === 'add KUBE-IPVS-IPS 172.20.1.1');
      node.record([NODE, serviceObject('shop/new', { clusterIPs: ['172.20.1.9'] })]);
      expect((await node.tryPass('full')).errors).to.deep.equal([]);
      expect([node.bound(), node.set('KUBE-IPVS-IPS')]).to.deep.equal([[...bound, '172.20.1.9'], ['172.20.1.9']]);
      end();
      await node.pass('full');
      expect(node.set('KUBE-IPVS-IPS')).to.deep.equal([...bound, '172.20.1.9']);
    });
  }

  it('R132: virtual servers that finish go in the end, though no set tells whose they are', async () => {
    const node = await emptiedAfterDeletion({ limitMs: 60_000, ofDeletedServices: true, closingMs: 0 });
    expect(node.ipvs().filter((line) => line.startsWith('-A'))).to.deep.equal([
      '-A -t 172.20.1.1:80 -s rr',
      '-A -t 192.168.0.10:30080 -s rr',
    ]);
    node.wait(60_000);
    await node.pass();
    expect([node.ipvs(), node.bound()]).to.deep.equal([[], []]);
  });
});
