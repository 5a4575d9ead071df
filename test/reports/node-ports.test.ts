import { expect } from 'chai';
import { cidr } from '../builders/net.ts';
import { LINKS, NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, cart, HERE, NODE_PORT } from './cart.ts';
import { page } from './pages.ts';

describe('test/reports/node-ports', () => {
  const open = cart({ type: 'NodePort', ports: [NODE_PORT], clusterIPs: ['172.20.1.1', 'fd00:20::1'] });

  it('R100: there is no virtual server at a loopback address, and the documentation says so', async () => {
    const node = new NodeUnderTest();
    await node.apply(open);
    expect(nodePortServers(node)).to.deep.equal(['-t 192.168.0.10:30080', '-t [fd00:168::10]:30080']);
    expect(page('reference/kernel-objects.md')).to.match(/node port addresses:[^|]*no loopback/i);
  });

  it('R101: node ports and the health port are open at the chosen addresses only', async () => {
    const node = new NodeUnderTest({
      links: { ...LINKS, eth1: ['198.51.100.10/24'] },
      settings: { nodePortAddresses: [cidr('192.168.0.0/24')] },
    });
    await node.apply(balancedCart({ externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 }, [HERE]));
    expect(nodePortServers(node)).to.deep.equal(['-t 192.168.0.10:30080']);
    expect(node.set('KUBE-NODE-PORT-IP')).to.deep.equal(['192.168.0.10']);
    expect(node.kernel.ipsets.save()).to.not.include('198.51.100.10');
  });

  it('R104: node ports appear at an address that comes later, and vanish with it, without any event of the API', async () => {
    const node = new NodeUnderTest();
    const { addresses } = node.kernel;
    await node.apply(open);
    addresses.put('eth0', '192.168.0.200/32');
    await node.pass('full');
    expect(nodePortServers(node)).to.include('-t 192.168.0.200:30080');
    expect(node.set('KUBE-NODE-PORT-IP')).to.include('192.168.0.200');
    addresses.batch('address delete 192.168.0.200/32 dev eth0\n');
    await node.pass('full');
    expect(nodePortServers(node)).to.not.include('-t 192.168.0.200:30080');
    expect(node.set('KUBE-NODE-PORT-IP')).to.not.include('192.168.0.200');
  });

  for (const nodePortAddresses of [[], [cidr('172.20.0.0/16'), cidr('192.168.0.0/24')]]) {
    it(`R105: no service address has node ports with nodePortAddresses [${nodePortAddresses.join()}]`, async () => {
      const node = new NodeUnderTest({ settings: { nodePortAddresses } });
      await node.apply(open);
      await node.pass('full');
      expect(nodePortServers(node).filter((server) => !server.includes('['))).to.deep.equal(['-t 192.168.0.10:30080']);
      const bound = node.bound();
      expect(bound).to.include('172.20.1.1');
      expect(node.ipvs().filter((line) => bound.some((address) => line.includes(`${address}:30080`)))).to.deep.equal(
        [],
      );
    });
  }

  it('R105: the documentation says that service addresses have no node ports', () =>
    expect(page('reference/kernel-objects.md')).to.match(/node port addresses:[^|]*(never|no|but)[^.|]*`kube-ipvs0`/i));
});

/** Virtual servers of node port 30080, sorted. */
function nodePortServers(node: NodeUnderTest): readonly string[] {
  return node.ipvs().flatMap((line) => /^-A (\S+ \S+:30080) /.exec(line)?.[1] ?? []);
}
