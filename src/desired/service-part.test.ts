import { expect } from 'chai';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, nodeView, servicePort, settings } from '../../test/builders/objects.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { ServicePort } from '../model/service-port.ts';
import { nodeInputs } from './node-inputs.ts';
import { servicePart } from './service-part.ts';

describe('desired/service-part', () => {
  const node = nodeInputs(nodeView({ addresses: [ip('192.168.0.10')] }), 'IPv4', settings());
  const remote = endpoint({ address: ip('10.180.1.1') });
  const local = endpoint({ address: ip('10.180.0.1'), local: true });
  const vip = ip('203.0.113.9');
  const part = (given: Partial<ServicePort>, endpoints: readonly Endpoint[] = [], inputs = node) =>
    servicePart(servicePort(given), endpoints, inputs, 'rr');
  /** Real servers by the address of their virtual server. */
  const backends = (given: Partial<ServicePort>, endpoints: readonly Endpoint[]) =>
    Object.fromEntries(part(given, endpoints).servers.map((each) => [each.address, [...each.realServers.keys()]]));

  it('makes a virtual server with a real server for each chosen endpoint, weight 1 and masqueraded', () => {
    const affine = servicePart(servicePort({ affinitySeconds: 600 }), [remote], node, 'mh');
    expect(affine.servers).to.deep.equal([
      {
        protocol: 'TCP',
        address: '172.20.1.1',
        port: 80,
        scheduler: 'mh',
        schedulerFlags: ['mh-port'],
        persistenceSeconds: 600,
        realServers: new Map([
          [
            '10.180.1.1:8080',
            { address: '10.180.1.1', port: 8080, forwarding: 'masquerade', weight: 1, connections: 0 },
          ],
        ]),
      },
    ]);
  });

  it('makes a virtual server without real servers for a port without endpoints', () => {
    const { servers, bound } = part({});
    expect(servers.map(({ realServers }) => realServers.size)).to.deep.equal([0]);
    expect(bound).to.deep.equal(['172.20.1.1']);
  });

  const both = { internalPolicyLocal: true, externalPolicyLocal: true };
  const all = ['10.180.0.1:8080', '10.180.1.1:8080'];
  const policies: readonly (readonly [
    string,
    Partial<ServicePort>,
    readonly Endpoint[],
    readonly string[],
    readonly string[],
  ])[] = [
    ['all endpoints everywhere under policy Cluster', {}, [local, remote], all, all],
    [
      'only local ones on the cluster address under internal policy Local',
      { internalPolicyLocal: true },
      [local, remote],
      ['10.180.0.1:8080'],
      all,
    ],
    [
      'only local ones on outside addresses under external policy Local',
      { externalPolicyLocal: true },
      [local, remote],
      all,
      ['10.180.0.1:8080'],
    ],
    ['only local ones under both', both, [local, remote], ['10.180.0.1:8080'], ['10.180.0.1:8080']],
    ['all that there are where no local one is usable', both, [remote], ['10.180.1.1:8080'], ['10.180.1.1:8080']],
  ];
  for (const [name, given, endpoints, inside, outside] of policies) {
    it(`serves ${name}`, () => {
      const addresses = { externalIPs: [ip('203.0.113.1')], loadBalancerVIPs: [vip], nodePort: port(30080) };
      expect(backends({ ...given, ...addresses }, endpoints)).to.deep.equal({
        '172.20.1.1': inside,
        '203.0.113.1': outside,
        '203.0.113.9': outside,
        '192.168.0.10': outside,
      });
    });
  }

  it('serves nothing under internal policy Local without local endpoints when it has only a cluster address', () => {
    expect(backends({ internalPolicyLocal: true }, [remote])).to.deep.equal({ '172.20.1.1': [] });
  });

  const missing: readonly (readonly [string, Partial<ServicePort>, readonly Endpoint[], readonly string[]])[] = [
    ['the internal policy', { internalPolicyLocal: true }, [remote], ['internal']],
    ['the external policy', { externalPolicyLocal: true, nodePort: port(30080) }, [remote], ['external']],
    ['both', { ...both, nodePort: port(30080) }, [remote], ['internal', 'external']],
    ['none while there is a local one', { ...both, nodePort: port(30080) }, [local], []],
    ['none while no endpoint is usable anywhere', both, [endpoint({ ready: false, serving: false })], []],
    ['none under policy Cluster', { nodePort: port(30080) }, [remote], []],
    ['none for an external policy that nothing uses', { externalPolicyLocal: true }, [remote], []],
  ];
  for (const [name, given, endpoints, withoutLocal] of missing) {
    it(`tells that ${name} lacks local endpoints`, () =>
      expect(part(given, endpoints).withoutLocal).to.deep.equal(withoutLocal));
  }

  it('lets every local endpoint reach itself, ready or not, and no remote one', () => {
    const unready = endpoint({ address: ip('10.180.0.2'), local: true, ready: false, serving: false });
    const { entries } = part({ protocol: 'UDP' }, [local, unready, remote]);
    expect(entries.filter(([set]) => set === 'LOOP-BACK')).to.deep.equal([
      ['LOOP-BACK', '10.180.0.1,udp:8080,10.180.0.1'],
      ['LOOP-BACK', '10.180.0.2,udp:8080,10.180.0.2'],
    ]);
  });

  describe('source ranges', () => {
    const restricted = (ranges: readonly string[]) => ({
      loadBalancerVIPs: [vip],
      externalIPs: [ip('203.0.113.1')],
      nodePort: port(30080),
      loadBalancerSourceRanges: ranges.map(cidr),
    });
    const ofRanges = (given: Partial<ServicePort>, inputs = node) =>
      part(given, [], inputs).entries.filter(([set]) => /-(FW|SOURCE-IP|SOURCE-CIDR)$/.test(set));

    it('guard the load-balancer addresses only, and shut the node out when it is in none', () => {
      const given = restricted(['198.51.100.0/24', '198.51.101.7/32']);
      expect(ofRanges(given)).to.deep.equal([
        ['LOAD-BALANCER-FW', '203.0.113.9,tcp:80'],
        ['LOAD-BALANCER-SOURCE-CIDR', '203.0.113.9,tcp:80,198.51.100.0/24'],
        ['LOAD-BALANCER-SOURCE-CIDR', '203.0.113.9,tcp:80,198.51.101.7'],
      ]);
      expect(part(given).closedToNode).to.deep.equal([vip]);
    });

    it('let the node in by the address itself when its main address is in one', () => {
      const given = restricted(['192.168.0.0/24']);
      expect(ofRanges(given)).to.deep.equal([
        ['LOAD-BALANCER-FW', '203.0.113.9,tcp:80'],
        ['LOAD-BALANCER-SOURCE-CIDR', '203.0.113.9,tcp:80,192.168.0.0/24'],
        ['LOAD-BALANCER-SOURCE-IP', '203.0.113.9,tcp:80,203.0.113.9'],
      ]);
      expect(part(given).closedToNode).to.deep.equal([]);
    });

    it('let the node in when its main address is in one of several', () => {
      expect(part(restricted(['198.51.100.0/24', '192.168.0.10/32'])).closedToNode).to.deep.equal([]);
    });

    it('leave no trace when there are none, or no load-balancer address', () => {
      expect(ofRanges(restricted([]))).to.deep.equal([]);
      expect(part(restricted([])).closedToNode).to.deep.equal([]);
      const noVips = { ...restricted(['198.51.100.0/24']), loadBalancerVIPs: [] };
      expect([ofRanges(noVips), part(noVips).closedToNode]).to.deep.equal([[], []]);
    });

    it('shut a node out whose address is not known', () => {
      const nowhere = nodeInputs(nodeView({ interfaces: {} }), 'IPv4', settings());
      expect(part(restricted(['0.0.0.0/1']), [], nowhere).closedToNode).to.deep.equal([vip]);
    });
  });

  describe('the health check port', () => {
    const given = { healthCheckNodePort: port(32000), nodePort: port(30080), loadBalancerVIPs: [vip] };
    const nowhere = nodeInputs(nodeView({ interfaces: {} }), 'IPv4', settings());
    const checks = (facts: Partial<ServicePort>, inputs = node) =>
      part(facts, [], inputs).entries.filter(([set]) => set === 'HEALTH-CHECK-NODE-PORT');

    it('is let through', () => expect(checks(given)).to.deep.equal([['HEALTH-CHECK-NODE-PORT', '32000']]));

    it('is not when the node port has no address to be served on', () =>
      expect(checks(given, nowhere)).to.deep.equal([]));

    it('is without a node port, wherever that would be served', () => {
      expect(checks({ ...given, nodePort: undefined }, nowhere)).to.deep.equal([['HEALTH-CHECK-NODE-PORT', '32000']]);
    });
  });
});
