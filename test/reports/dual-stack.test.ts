import { expect } from 'chai';
import { endpointJson, type ObjectJson, sliceObject } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart, NODE_PORT } from './cart.ts';

describe('test/reports/dual-stack', () => {
  it('R106: IPv6 node ports are served at global addresses and not at link-local ones', async () => {
    const node = new NodeUnderTest({ links: { eth0: ['fd00:168::10/64', 'fe80::10/64', '192.168.0.10/24'] } });
    await node.apply(cart({ type: 'NodePort', clusterIPs: ['172.20.1.1', 'fd00:20::1'], ports: [NODE_PORT] }));
    expect(node.ipvs().filter((line) => line.includes(':30080 -s'))).to.deep.equal([
      '-A -t 192.168.0.10:30080 -s rr',
      '-A -t [fd00:168::10]:30080 -s rr',
    ]);
  });

  it('R109: endpoints of either family are replaced in the pass after the change, alone or both at once', async () => {
    const node = new NodeUnderTest();
    for (const [ipv4, ipv6] of [
      ['10.180.0.5', 'fd00:180::5'],
      ['10.180.0.5', 'fd00:180::6'],
      ['10.180.0.7', 'fd00:180::7'],
      ['10.180.0.8', 'fd00:180::7'],
    ] as const) {
      await node.apply(dualStackCart(ipv4, ipv6));
      expect(node.ipvs()).to.deep.equal([
        '-A -t 172.20.1.1:80 -s rr',
        '-A -t [fd00:20::1]:80 -s rr',
        `-a -t 172.20.1.1:80 -r ${ipv4}:8080 -m -w 1`,
        `-a -t [fd00:20::1]:80 -r [${ipv6}]:8080 -m -w 1`,
      ]);
    }
  });
});

/** One Pod with an address of each family, as two slices tell. */
function dualStackCart(ipv4: string, ipv6: string): readonly ObjectJson[] {
  return [
    ...cart({ clusterIPs: ['172.20.1.1', 'fd00:20::1'] }, [endpointJson(ipv4, 'node-a')]),
    sliceObject('shop/cart-6', { service: 'cart', family: 'IPv6', endpoints: [endpointJson(ipv6, 'node-a')] }),
  ];
}
