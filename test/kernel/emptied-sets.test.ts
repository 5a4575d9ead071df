import { expect } from 'chai';
import { ownSets } from '../../src/kernel/ipset/definitions.ts';
import type { DrainingSettings } from '../../src/sync/proxier.ts';
import { endpointJson, nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { NodeUnderTest } from './node-under-test.ts';

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
  /** A Service with connections is deleted, then somebody empties all of our sets. */
  async function emptiedAfterDeletion(draining: DrainingSettings): Promise<NodeUnderTest> {
    const node = new NodeUnderTest({ families: ['IPv4'], draining });
    await node.apply([NODE, ...CART]);
    for (const server of ['172.20.1.1:80', '192.168.0.10:30080']) {
      node.kernel.ipvs.connect(`-t ${server}`, '10.180.0.1:8080', 1);
    }
    node.record([NODE]);
    await node.tryPass('normal');
    node.kernel.ipsets.restore(
      ownSets('IPv4')
        .names.map((name) => `flush ${name}\n`)
        .join(''),
    );
    expect((await node.tryPass('full')).errors).to.deep.equal([]);
    return node;
  }

  it('R132: an address that only refuses any more goes, though no set tells whose it is', async () => {
    const node = await emptiedAfterDeletion({ limitMs: 0, ofDeletedServices: false, closingMs: 30_000 });
    expect(node.bound()).to.deep.equal([]);
  });

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
