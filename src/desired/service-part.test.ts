import { expect } from 'chai';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, nodeView, servicePort, settings } from '../../test/builders/objects.ts';
import { realServerKey } from '../kernel/ipvs/state.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { ServicePort } from '../model/service-port.ts';
import { nodeInputs } from './node-inputs.ts';
import { type ServicePart, servicePart } from './service-part.ts';

describe('desired/service-part', () => {
  const node = nodeInputs(nodeView({ addresses: [ip('192.168.0.10')] }), 'IPv4', settings());
  const remote = endpoint({ address: ip('10.180.1.1') });
  const local = endpoint({ address: ip('10.180.0.1'), local: true });
  const vip = ip('203.0.113.9');
  const part = (given: Partial<ServicePort>, endpoints: readonly Endpoint[] = [], inputs = node) =>
    joined(servicePart(servicePort(given), endpoints, inputs, settings({ behaviour: 'kube-proxy' })));
  /** Real servers by the address of their virtual server. */
  const backends = (given: Partial<ServicePort>, endpoints: readonly Endpoint[]) =>
    Object.fromEntries(
      part(given, endpoints).servers.map((each) => [each.address, each.realServers.map(realServerKey)]),
    );

  it('makes a virtual server with a real server for each chosen endpoint, weight 1 and masqueraded', () => {
    const affine = joined(
      servicePart(servicePort({ affinitySeconds: 600 }), [remote], node, settings({ scheduler: 'mh' })),
    );
    expect(affine.servers).to.deep.equal([
      {
        protocol: 'TCP',
        address: '172.20.1.1',
        port: 80,
        scheduler: 'mh',
        schedulerFlags: ['mh-port'],
        persistenceSeconds: 600,
        realServers: [{ address: '10.180.1.1', port: 8080, forwarding: 'masquerade', weight: 1 }],
      },
    ]);
  });

  it('makes a virtual server without real servers for a port without endpoints', () => {
    const { servers, bound } = part({});
    expect(servers.map(({ realServers }) => realServers.length)).to.deep.equal([0]);
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

  describe('under behaviour documented', () => {
    const own = (given: Partial<ServicePort>, endpoints: readonly Endpoint[] = [], inputs = node) =>
      joined(servicePart(servicePort(given), endpoints, inputs, settings()));
    const outside = { externalIPs: [ip('203.0.113.1')], loadBalancerVIPs: [vip], nodePort: port(30080) };
    const noLocal = (given: Partial<ServicePort>, endpoints: readonly Endpoint[]) =>
      own({ ...outside, ...given }, endpoints).entries.filter(([set]) => set.endsWith('NO-LOCAL'));
    const everyOutside = [
      ['EXTERNAL-NO-LOCAL', '203.0.113.1,tcp:80'],
      ['EXTERNAL-NO-LOCAL', '203.0.113.9,tcp:80'],
      ['EXTERNAL-NO-LOCAL', '192.168.0.10,tcp:30080'],
    ];
    const inside = ['CLUSTER-IP-NO-LOCAL', '172.20.1.1,tcp:80'];
    const lacking: readonly (readonly [string, Partial<ServicePort>, readonly Endpoint[], unknown])[] = [
      ['every outside address under external policy Local', { externalPolicyLocal: true }, [remote], everyOutside],
      ['the cluster address under internal policy Local', { internalPolicyLocal: true }, [remote], [inside]],
      ['all of them under both', both, [remote], [inside, ...everyOutside]],
      ['none while there is a local endpoint', both, [local, remote], []],
      [
        'none while a local endpoint serves and terminates',
        both,
        [endpoint({ local: true, ready: false, terminating: true }), remote],
        [],
      ],
      ['none while no endpoint is usable anywhere, as the kernel refuses then', both, [], []],
      ['none under policy Cluster', {}, [remote], []],
    ];
    for (const [name, given, endpoints, expected] of lacking) {
      it(`tells the rules what lacks a local endpoint: ${name}`, () =>
        expect(noLocal(given, endpoints)).to.deep.equal(expected));
    }

    it('serves the cluster address under internal policy Local by local endpoints alone, node port or not', () => {
      const { servers } = own({ ...outside, internalPolicyLocal: true }, [remote]);
      const reals = Object.fromEntries(servers.map((each) => [each.address, each.realServers.map(realServerKey)]));
      expect([reals['172.20.1.1'], reals['192.168.0.10']]).to.deep.equal([[], ['10.180.1.1:8080']]);
    });

    it('tells the rules on which addresses node ports are served', () => {
      const addresses = (given: Partial<ServicePort>) => own(given).entries.filter(([set]) => set === 'NODE-PORT-IP');
      expect(addresses(outside)).to.deep.equal([['NODE-PORT-IP', '192.168.0.10']]);
      expect(addresses({})).to.deep.equal([]);
    });

    it('closes load-balancer addresses of a family whose Service restricts its sources otherwise', () => {
      const { entries, closedToNode } = own({ ...outside, restrictedElsewhere: true });
      expect(entries.filter(([set]) => /-(FW|SOURCE-IP|SOURCE-CIDR)$/.test(set))).to.deep.equal([
        ['LOAD-BALANCER-FW', '203.0.113.9,tcp:80'],
      ]);
      expect(closedToNode).to.deep.equal([vip]);
      expect(part({ ...outside, restrictedElsewhere: true }).closedToNode).to.deep.equal([]);
    });

    it('leaves addresses of other nodes to them, and says so', () => {
      const others = new Set([ip('203.0.113.1'), vip]);
      const view = nodeView({ addresses: [ip('192.168.0.10')], otherNodeAddresses: others });
      const found = own(outside, [remote], nodeInputs(view, 'IPv4', settings()));
      expect(found.servers.map(({ address }) => address)).to.deep.equal(['172.20.1.1', '192.168.0.10']);
      expect(found.bound).to.deep.equal(['172.20.1.1']);
      expect(JSON.stringify(found.entries)).to.not.include('203.0.113');
      const message = 'belongs to another node; it is served on that node only';
      const cart = { object: 'Service shop/cart', service: 'shop/cart' };
      expect(found.problems).to.deep.equal([
        { ...cart, field: 'spec.externalIPs', message: `203.0.113.1 ${message}` },
        { ...cart, field: 'status.loadBalancer.ingress', message: `203.0.113.9 ${message}` },
      ]);
    });

    it('lets the health check port through though the node port has no address to be served on', () => {
      const nowhere = nodeInputs(nodeView({ interfaces: {} }), 'IPv4', settings());
      const { entries } = own({ ...outside, healthCheckNodePort: port(32000) }, [], nowhere);
      expect(entries).to.deep.include(['HEALTH-CHECK-NODE-PORT', '32000']);
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

/** What a part adds where all its frontends are its own. */
function joined({ fronts, entries, ...part }: ServicePart) {
  return {
    ...part,
    servers: fronts.map(({ server }) => server),
    entries: [...entries, ...fronts.flatMap((front) => front.entries)],
    bound: fronts.filter(({ bind }) => bind).map(({ server }) => server.address),
    closedToNode: fronts.filter(({ closedToNode }) => closedToNode).map(({ server }) => server.address),
  };
}
