import { expect } from 'chai';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, HERE, otherService } from './cart.ts';

describe('test/reports/source-ranges', () => {
  const ranges = ['198.51.100.0/24', '198.18.0.0/15'];
  const restricted = balancedCart({ loadBalancerSourceRanges: ranges });

  it('R74: no tool that runs leaves a moment in which a range is not enforced, whatever else changes', async () => {
    const node = new NodeUnderTest();
    let looks = 0;
    lookAfterEachTool(node, () => {
      looks += 1;
      if (!node.bound().includes('203.0.113.5')) return;
      expect(node.set('KUBE-LOAD-BALANCER-FW')).to.include('203.0.113.5,tcp:80');
      expect(node.set('KUBE-LOAD-BALANCER-SOURCE-CIDR')).to.include('203.0.113.5,tcp:80,198.51.100.0/24');
      expectEnforced(node);
    });
    for (let sync = 0; sync < 50; sync++) {
      const narrower = balancedCart({ loadBalancerSourceRanges: ranges.slice(0, 1 + (sync % 2)) });
      const open = otherService(1).map((object) => (sync % 3 === 0 ? { ...object, kind: 'Absent' } : object));
      await node.apply([...(sync % 5 === 4 ? narrower : restricted), ...open, ...otherService(2 + sync)]);
    }
    expect(looks).to.be.above(100);
  });

  it('R76: ranges hold for the node too, and are matched by address, protocol and port', async () => {
    const node = new NodeUnderTest();
    await node.apply(restricted);
    expectEnforced(node);
    expect(node.set('KUBE-LOAD-BALANCER-FW')).to.deep.equal(['203.0.113.5,tcp:80']);
    expect(node.set('KUBE-LOAD-BALANCER-SOURCE-CIDR')).to.deep.equal([
      '203.0.113.5,tcp:80,198.18.0.0/15',
      '203.0.113.5,tcp:80,198.51.100.0/24',
    ]);
    expect(node.rules('filter', 'OUTPUT').filter((rule) => rule.endsWith('-j KUBE-IPVS-OUT-FILTER'))).to.have.lengthOf(
      1,
    );
    expect(node.rules('filter', 'KUBE-IPVS-OUT-FILTER')).to.deep.equal([
      '-s 203.0.113.5/32 -m ipvs --vproto 6 --vaddr 203.0.113.5 --vport 80 -j DROP',
    ]);
  });

  it('R76: a node inside the ranges is let in, and another Service at the same address is open', async () => {
    const node = new NodeUnderTest();
    const inside = balancedCart({ loadBalancerSourceRanges: ['192.168.0.0/24'] });
    const [, , other = {}] = balancedCart({
      clusterIPs: ['172.20.1.2'],
      ports: [{ name: 'https', protocol: 'TCP', port: 443, nodePort: 30443 }],
    });
    await node.apply([...inside, { ...other, metadata: { namespace: 'shop', name: 'till' } }]);
    expect(node.set('KUBE-LOAD-BALANCER')).to.deep.equal(['203.0.113.5,tcp:443', '203.0.113.5,tcp:80']);
    expect(node.set('KUBE-LOAD-BALANCER-FW')).to.deep.equal(['203.0.113.5,tcp:80']);
    expect(node.set('KUBE-LOAD-BALANCER-SOURCE-IP')).to.deep.equal(['203.0.113.5,tcp:80,203.0.113.5']);
    expect(node.rules('filter', 'KUBE-IPVS-OUT-FILTER')).to.deep.equal([]);
  });

  it('R77: with input policy DROP node ports, load balancer addresses and health ports are accepted, behind rules of others', async () => {
    const node = new NodeUnderTest();
    node.kernel.tables.IPv4.restore('*filter\n-A INPUT -s 192.0.2.66/32 -j DROP\nCOMMIT\n');
    await node.apply(balancedCart({ externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 }, [HERE]));
    const input = node.rules('filter', 'INPUT');
    expect(input.findIndex((rule) => rule.endsWith('-j KUBE-NODE-PORT'))).to.be.within(0, input.length - 1);
    expect(node.rules('filter', 'KUBE-NODE-PORT').join()).to.match(/KUBE-HEALTH-CHECK-NODE-PORT dst -j ACCEPT$/);
    expect(node.set('KUBE-HEALTH-CHECK-NODE-PORT')).to.deep.equal(['32000']);
    expect(input.at(-1)).to.match(/-j KUBE-IPVS-ACCEPT$/);
    expect(input.indexOf('-s 192.0.2.66/32 -j DROP')).to.be.within(0, input.length - 2);
    expect(node.rules('filter', 'KUBE-IPVS-ACCEPT')).to.include.members([
      '-m set --match-set KUBE-LOAD-BALANCER dst,dst -j ACCEPT',
      '-m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT',
      '-m set --match-set KUBE-EXTERNAL-IP dst,dst -j ACCEPT',
      '-m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j ACCEPT',
      '-p tcp -m set --match-set KUBE-NODE-PORT-IP dst -m set --match-set KUBE-NODE-PORT-TCP dst -j ACCEPT',
      '-p udp -m set --match-set KUBE-NODE-PORT-IP dst -m set --match-set KUBE-NODE-PORT-UDP dst -j ACCEPT',
      '-p sctp -m set --match-set KUBE-NODE-PORT-SCTP-HASH dst,dst -j ACCEPT',
    ]);
    expect(node.set('KUBE-NODE-PORT-IP')).to.deep.equal(['192.168.0.10']);
    expect(node.set('KUBE-NODE-PORT-TCP')).to.deep.equal(['30080']);
  });

  it('R79: node port rules are asked for local destinations only', async () => {
    const node = new NodeUnderTest();
    await node.apply(balancedCart());
    const jumps = node.kernel.tables.IPv4.save()
      .split('\n')
      .filter((rule) => /^-A .*-j KUBE-NODE-PORT$/.test(rule));
    const fromNat = jumps.filter((rule) => rule.startsWith('-A KUBE-SERVICES '));
    expect(fromNat).to.deep.equal(['-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT']);
    expect(jumps.filter((rule) => !fromNat.includes(rule))).to.have.lengthOf(1);
    expect(node.rules('filter', 'KUBE-NODE-PORT').join()).to.not.include('KUBE-NODE-PORT-TCP');
  });
});

/** Who dials the frontend from outside the ranges meets the drop, both on the way in and on the way through. */
function expectEnforced(node: NodeUnderTest): void {
  for (const chain of ['INPUT', 'FORWARD']) {
    const jumps = node.rules('filter', chain).filter((rule) => rule.endsWith('-j KUBE-PROXY-FIREWALL'));
    expect(jumps, chain).to.have.lengthOf(1);
  }
  const [first] = node.rules('filter', 'KUBE-PROXY-FIREWALL');
  expect(first).to.match(/--match-set KUBE-LOAD-BALANCER-FW dst,dst -j KUBE-SOURCE-RANGES-FIREWALL$/);
  const rules = node.rules('filter', 'KUBE-SOURCE-RANGES-FIREWALL');
  expect(rules[0]).to.match(/--match-set KUBE-LOAD-BALANCER-SOURCE-CIDR dst,dst,src -j RETURN$/);
  expect(rules.at(-1)).to.equal('-j DROP');
}

function lookAfterEachTool({ kernel }: NodeUnderTest, look: () => void): void {
  const { runTool } = kernel;
  kernel.runTool = async (call) => {
    const result = await runTool(call);
    if (call.input !== undefined) look();
    return result;
  };
}
