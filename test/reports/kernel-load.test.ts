import { expect } from 'chai';
import { OWN } from '../../src/config/config-fixture.ts';
import { endpointJson, type ObjectJson } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart } from './cart.ts';
import { startNode } from './start-node.ts';

const ESTIMATION = 'net/ipv4/vs/run_estimation';
const BACKENDS = ['10.180.1.1', '10.180.1.2', '10.180.1.3', '10.180.1.4', '10.180.1.5'];

describe('test/reports/kernel-load', () => {
  for (const [given, before, after] of [
    ['runEstimation: false', '1', '0'],
    ['runEstimation: true', '0', '1'],
    ['', '1', '1'],
    ['', '0', '0'],
  ] as const) {
    it(`R89: rate estimation that was ${before} is ${after} with ${given || 'nothing said'}`, async () => {
      const { sysctls, warnings } = await startNode({
        configuration: `${OWN}${given}\n`,
        files: { [`/proc/sys/${ESTIMATION}`]: before },
      });
      expect(sysctls()[ESTIMATION]).to.equal(after);
      expect(warnings).to.deep.equal([]);
    });
  }

  it('R89: a kernel without the switch is made ready with one warning', async () => {
    const { sysctls, warnings } = await startNode({
      configuration: `${OWN}runEstimation: false\n`,
      absent: [ESTIMATION],
    });
    expect(warnings).to.deep.equal([`/proc/sys/${ESTIMATION} could not be set to 0: ENOENT`]);
    expect(sysctls()).to.include({ 'net/ipv4/vs/conntrack': '1' });
  });

  /** Real servers of the one virtual server in the order in which the kernel was given them. */
  async function givenTo(name: string, behaviour: 'documented' | 'kube-proxy' = 'documented'): Promise<string[]> {
    const node = new NodeUnderTest({ name, settings: { behaviour } });
    await node.apply(withBackends(BACKENDS));
    const script = node.takeScripts().find((text) => text.startsWith('ipvsadm: -A')) ?? '';
    return [...script.matchAll(/-r (\S+):8080/g)].map(([, address = '']) => address);
  }

  function withBackends(backends: readonly string[]): readonly ObjectJson[] {
    const endpoints = backends.map((address) => endpointJson(address, 'node-b'));
    return cart({}, endpoints);
  }

  for (const place of [0, BACKENDS.length - 1]) {
    it(`R90: of 50 nodes no more than 20 have the same one of 5 endpoints at place ${place}, where round robin begins`, async () => {
      const places = await Promise.all(
        Array.from({ length: 50 }, async (_, index) => (await givenTo(`node-${index}`))[place]),
      );
      const counts = BACKENDS.map((backend) => places.filter((address) => address === backend).length);
      expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(50);
      expect(Math.max(...counts), counts.join()).to.be.lessThanOrEqual(20);
    });
  }

  it('R90: a node gives the kernel all endpoints, in the same order each time', async () => {
    const first = await givenTo('node-7');
    expect([...first].sort()).to.deep.equal(BACKENDS);
    expect(await givenTo('node-7')).to.deep.equal(first);
  });

  it('R90: the order alone is no reason to write anything', async () => {
    const node = new NodeUnderTest();
    await node.apply(withBackends(BACKENDS));
    node.takeScripts();
    await node.apply(withBackends(BACKENDS.toReversed()));
    node.restart();
    await node.apply(withBackends(BACKENDS), 'full');
    expect(node.takeScripts()).to.deep.equal([]);
  });

  it('R90: behaviour kube-proxy has its order on every node', async () => {
    const orders = await Promise.all(['node-a', 'node-b', 'node-c'].map((name) => givenTo(name, 'kube-proxy')));
    expect(orders).to.deep.equal(orders.map(() => BACKENDS));
  });
});
