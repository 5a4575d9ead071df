import { expect } from 'chai';
import { cleanNode } from '../../src/clean-node.ts';
import type { Behaviour } from '../../src/desired/settings.ts';
import { succeed } from '../../src/model/result.ts';
import { cidr } from '../builders/net.ts';
import { SteppedClock } from '../stepped-clock.ts';
import { endpointJson, type ObjectJson, serviceObject, sliceObject } from './cluster-objects.ts';
import { NodeUnderTest } from './node-under-test.ts';

/** At an address of the node, on a dummy interface of somebody else, at no address of the node, and in an excluded range. */
const FOREIGN = ['192.168.0.10:25', '10.50.0.1:80', '198.51.100.9:25', '10.60.0.1:80'] as const;
const LINKS = {
  lo: ['127.0.0.1/8'],
  eth0: ['192.168.0.10/24'],
  dummy0: ['10.50.0.1/32'],
};
const EXCLUDED = [cidr('10.60.0.0/16')];

/** A Service with a node port, so that virtual servers at addresses of the node may be ours. */
const SHOP: readonly ObjectJson[] = [
  serviceObject('shop/cart', {
    type: 'NodePort',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
  }),
  sliceObject('shop/cart-1', { service: 'cart', endpoints: [endpointJson('10.180.0.1', 'node-a')] }),
];

describe('test/kernel/foreign-servers', () => {
  function nodeWith(behaviour: Behaviour = 'documented'): NodeUnderTest {
    const settings = { excludeCIDRs: EXCLUDED, behaviour };
    const node = new NodeUnderTest({ families: ['IPv4'], links: LINKS, settings });
    for (const server of FOREIGN) put(node, server);
    return node;
  }

  function put({ kernel }: NodeUnderTest, server: string): void {
    kernel.ipvs.restore(`-A -t ${server} -s wlc\n-a -t ${server} -r 192.0.2.25:25 -m -w 3\n`);
  }

  function stands(node: NodeUnderTest, server: string): boolean {
    const lines = [`-A -t ${server} -s wlc`, `-a -t ${server} -r 192.0.2.25:25 -m -w 3`];
    return lines.every((line) => node.ipvs().includes(line));
  }

  it('stand through passes of every kind, restarts, and the end of all Services, with their addresses', async () => {
    const node = nodeWith();
    node.kernel.addresses.put('kube-ipvs0', '10.70.0.1/32');
    await node.apply(SHOP);
    await node.pass('full');
    node.restart();
    await node.apply(SHOP);
    await node.apply([]);
    node.restart();
    await node.apply([], 'full');
    expect(FOREIGN.filter((server) => !stands(node, server))).to.deep.equal([]);
    expect(node.ipvs().filter((line) => line.startsWith('-A'))).to.have.lengthOf(FOREIGN.length);
    expect(node.bound()).to.deep.equal(['10.70.0.1']);
    expect(node.kernel.addresses.addresses('dummy0')).to.deep.equal(['10.50.0.1']);
  });

  it('stand through a clean-up', async () => {
    const node = nodeWith();
    await node.apply(SHOP);
    const terminal = { output: async () => {}, error: () => {}, input: async () => '' };
    const args = { flags: { 'ipvs-exclude-cidrs': '10.60.0.0/16' }, of: ['ipvs'], action: 'remove' } as const;
    const lock = async () => succeed({ release: async () => {} });
    const machine = { host: node.kernel, clock: new SteppedClock(), lock };
    expect(await cleanNode(args, '1.2.3', terminal, machine)).to.equal(0);
    expect(FOREIGN.filter((server) => !stands(node, server))).to.deep.equal([]);
    expect(node.ipvs().filter((line) => line.startsWith('-A'))).to.have.lengthOf(FOREIGN.length);
  });

  it('in an excluded range stand under the behaviour of kube-proxy too, and no others', async () => {
    const node = nodeWith('kube-proxy');
    await node.apply(SHOP);
    expect(FOREIGN.filter((server) => stands(node, server))).to.deep.equal(['10.60.0.1:80']);
  });

  for (const [what, server, prepare] of [
    ['an address of kube-ipvs0, whatever the port', '172.20.1.1:8443', () => {}],
    ['an address of the node and a node port of ours', '192.168.0.10:30080', () => {}],
    [
      'an address that only the set tells of',
      '10.70.0.1:80',
      ({ kernel }: NodeUnderTest) => kernel.ipsets.restore('add KUBE-IPVS-IPS 10.70.0.1\n'),
    ],
  ] as const) {
    it(`count as ours at ${what}`, async () => {
      const node = new NodeUnderTest({ families: ['IPv4'], links: LINKS });
      await node.apply(SHOP);
      node.kernel.ipvs.restore(`-D -t ${server}\n`);
      put(node, server);
      prepare(node);
      node.restart();
      await node.apply(SHOP, 'full');
      expect(stands(node, server)).to.equal(false);
    });
  }

  it('in an excluded range stand also where their address is on kube-ipvs0', async () => {
    const node = nodeWith();
    node.kernel.addresses.put('kube-ipvs0', '10.60.0.1/32');
    await node.apply(SHOP);
    await node.apply([]);
    expect(stands(node, '10.60.0.1:80')).to.equal(true);
    expect(node.bound()).to.deep.equal(['10.60.0.1']);
  });
});
