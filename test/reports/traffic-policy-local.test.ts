import { expect } from 'chai';
import { cidr } from '../builders/net.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, cart, ELSEWHERE, HERE, POD_RANGE } from './cart.ts';

describe('test/reports/traffic-policy-local', () => {
  let node: NodeUnderTest;

  beforeEach(() => {
    node = new NodeUnderTest({ settings: { detectLocal: { kind: 'cluster-cidr', cidrs: [cidr(POD_RANGE)] } } });
  });

  const realServersOf = (frontend: string) =>
    node.ipvs().flatMap((line) => (line.startsWith(`-a -t ${frontend} `) ? (line.split(' ')[4] ?? '') : []));

  it('R42: clients outside reach only endpoints of this node, and stay who they are', async () => {
    await node.apply(balancedCart({ externalTrafficPolicy: 'Local' }));
    expect(realServersOf('203.0.113.5:80')).to.deep.equal(['10.180.0.5:8080']);
    expect(realServersOf('192.168.0.10:30080')).to.deep.equal(['10.180.0.5:8080']);
    expect(node.set('KUBE-LOAD-BALANCER-LOCAL')).to.deep.equal(['203.0.113.5,tcp:80']);
    expect(node.set('KUBE-NODE-PORT-LOCAL-TCP')).to.deep.equal(['30080']);
    const unmarked = node.rules('nat', 'KUBE-LOAD-BALANCER').findIndex((rule) => rule.endsWith('-j RETURN'));
    expect(node.rules('nat', 'KUBE-LOAD-BALANCER')[unmarked]).to.include('KUBE-LOAD-BALANCER-LOCAL dst,dst');
    expect(unmarked).to.be.below(node.rules('nat', 'KUBE-LOAD-BALANCER').indexOf('-j KUBE-MARK-MASQ'));
  });

  it('R44: the cluster address follows the internal policy, never the external one', async () => {
    const other = { ...ELSEWHERE, addresses: ['10.180.1.6'] };
    await node.apply(
      balancedCart({ externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Cluster' }, [ELSEWHERE, other]),
    );
    expect(realServersOf('172.20.1.1:80')).to.deep.equal(['10.180.1.5:8080', '10.180.1.6:8080']);
    expect(node.set('KUBE-CLUSTER-IP-NO-LOCAL')).to.deep.equal([]);
    await node.apply(
      balancedCart({ externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Local' }, [ELSEWHERE, other]),
    );
    expect(realServersOf('172.20.1.1:80')).to.deep.equal([]);
    expect(realServersOf('203.0.113.5:80')).to.deep.equal(['10.180.1.5:8080', '10.180.1.6:8080']);
  });

  it('R46: Pods and the node are served at the load balancer address by all of the cluster, clients outside are dropped', async () => {
    await node.apply(balancedCart({ externalTrafficPolicy: 'Local' }, [ELSEWHERE]));
    expect(realServersOf('203.0.113.5:80')).to.deep.equal(['10.180.1.5:8080']);
    expect(node.set('KUBE-EXTERNAL-NO-LOCAL')).to.include('203.0.113.5,tcp:80');
    const [dropped] = node.rules('filter', 'KUBE-PROXY-FIREWALL').filter((rule) => rule.includes('EXTERNAL-NO-LOCAL'));
    expect(dropped)
      .to.match(/^! -s 10\.180\.0\.0\/16 /)
      .and.to.include('--match-set KUBE-EXTERNAL-NO-LOCAL dst,dst -m addrtype ! --src-type LOCAL')
      .and.to.match(/-m conntrack --ctstate NEW -j DROP$/);
    const [first, second] = node.rules('nat', 'KUBE-LOAD-BALANCER');
    expect(first).to.match(/KUBE-LOAD-BALANCER-LOCAL dst,dst -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ$/);
    expect(second).to.match(/KUBE-LOAD-BALANCER-LOCAL dst,dst -j RETURN$/);
  });

  it('R46: nobody is dropped any more once there is an endpoint on the node', async () => {
    await node.apply(balancedCart({ externalTrafficPolicy: 'Local' }, [ELSEWHERE]));
    await node.apply(balancedCart({ externalTrafficPolicy: 'Local' }, [ELSEWHERE, HERE]));
    expect(node.set('KUBE-EXTERNAL-NO-LOCAL')).to.deep.equal([]);
    expect(realServersOf('203.0.113.5:80')).to.deep.equal(['10.180.0.5:8080']);
  });

  it('R47: the filter lets through every frontend that has a virtual server, whatever set it is in', async () => {
    await node.apply(cart({ externalIPs: ['198.51.100.7'], externalTrafficPolicy: 'Local' }));
    expect(node.set('KUBE-EXTERNAL-IP-LOCAL')).to.deep.equal(['198.51.100.7,tcp:80']);
    const rules = node.rules('filter', 'KUBE-IPVS-FILTER');
    const accepted = rules.indexOf('-m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j RETURN');
    const rejected = rules.findIndex((rule) => rule.includes('-j REJECT'));
    expect(accepted).to.be.within(0, rejected - 1);
  });

  it('R49: an external address under policy Local has local endpoints and no masquerading', async () => {
    await node.apply(cart({ externalIPs: ['198.51.100.7'], externalTrafficPolicy: 'Local' }));
    expect(realServersOf('198.51.100.7:80')).to.deep.equal(['10.180.0.5:8080']);
    expect(node.set('KUBE-EXTERNAL-IP')).to.deep.equal([]);
    expect(node.set('KUBE-EXTERNAL-IP-LOCAL')).to.deep.equal(['198.51.100.7,tcp:80']);
    const marking = node.rules('nat', 'KUBE-SERVICES').filter((rule) => rule.endsWith('-j KUBE-MARK-MASQ'));
    const forOutside = marking.filter((rule) => rule.includes('EXTERNAL') && !rule.includes('--src-type LOCAL'));
    const sets = forOutside.map((rule) => /--match-set (\S+)/.exec(rule)?.[1] ?? '');
    expect(sets.flatMap((set) => node.set(set))).to.deep.equal([]);
  });
});
