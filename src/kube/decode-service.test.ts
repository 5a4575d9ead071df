import { expect } from 'chai';
import type { Service } from '../model/service.ts';
import { decodeService } from './decode-service.ts';

type Fields = Readonly<Record<string, unknown>>;

const DUAL_STACK = { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['172.20.1.1', 'fd00:20::1'] };

describe('kube/decode-service', () => {
  it('says which Service a problem is about, where it has a name', () => {
    const faulty = { metadata: { namespace: 'shop', name: 'cart' }, spec: { clusterIP: '172.20.1.1', ports: 'none' } };
    const services = (json: object) => decodeService(json).problems.map(({ service }) => service);
    expect(services(faulty)).to.include('shop/cart');
    expect(services({ ...faulty, metadata: { namespace: 'shop' } })).to.include(undefined);
  });

  const spec: Fields = {
    type: 'ClusterIP',
    clusterIP: '172.20.1.1',
    clusterIPs: ['172.20.1.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    selector: { app: 'cart' },
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  };
  const plain: Service = decoded({}).value as Service;

  function decoded(changes: Fields, status: unknown = {}) {
    const json = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'shop', name: 'cart' },
      spec: { ...spec, ...changes },
      status,
    };
    return decodeService(json);
  }

  function flawless(changes: Fields, status: unknown = {}): Service {
    const { value, problems } = decoded(changes, status);
    expect(problems).to.deep.equal([]);
    if (!value) throw new Error('there is no value');
    return value;
  }

  it('keeps what kernel state depends on', () => {
    expect(plain).to.deep.equal({
      name: 'shop/cart',
      type: 'ClusterIP',
      createdAt: '',
      clusterIP: '172.20.1.1',
      clusterIPs: { IPv4: '172.20.1.1' },
      ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: undefined }],
      affinitySeconds: 0,
      internalTrafficPolicy: 'Cluster',
      externalTrafficPolicy: 'Cluster',
      externalIPs: [],
      loadBalancerVIPs: [],
      loadBalancerProxies: [],
      loadBalancerSourceRanges: [],
      hasUnusableSourceRange: false,
      healthCheckNodePort: undefined,
    });
    expect(Object.isFrozen(plain)).to.equal(true);
  });

  it('fills in what the API server would have', () => {
    const given = { metadata: { name: 'cart' }, spec: { clusterIP: '172.20.1.1', ports: [{ port: 80 }] } };
    expect(decodeService(given)).to.deep.equal({
      value: { ...plain, name: 'default/cart', ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: undefined }] },
      problems: [],
    });
  });

  describe('cluster addresses', () => {
    const dual = { clusterIP: '172.20.1.1', clusterIPs: ['172.20.1.1', 'FD00:20::0001'], ipFamilies: ['IPv4', 'IPv6'] };
    const cases: readonly (readonly [string, Fields, Fields, string | undefined])[] = [
      ['go by the position of their family', dual, { IPv4: '172.20.1.1', IPv6: 'fd00:20::1' }, '172.20.1.1'],
      [
        'go by that position when IPv6 is first',
        { clusterIP: 'fd00:20::1', clusterIPs: ['fd00:20::1', '172.20.1.1'], ipFamilies: ['IPv6', 'IPv4'] },
        { IPv4: '172.20.1.1', IPv6: 'fd00:20::1' },
        'fd00:20::1',
      ],
      [
        'are not there beyond the end of the list',
        { ...dual, clusterIPs: ['172.20.1.1'] },
        { IPv4: '172.20.1.1' },
        '172.20.1.1',
      ],
      ['are those of the families only', { ...dual, ipFamilies: ['IPv4'] }, { IPv4: '172.20.1.1' }, '172.20.1.1'],
      [
        'are the one address when families are not known',
        { ipFamilies: [], clusterIPs: [] },
        { IPv4: '172.20.1.1' },
        '172.20.1.1',
      ],
      [
        'are the one IPv6 address when families are not known',
        { ipFamilies: undefined, clusterIPs: undefined, clusterIP: 'fd00:20::1' },
        { IPv6: 'fd00:20::1' },
        'fd00:20::1',
      ],
      [
        'are the one address also where only families are given',
        { clusterIPs: undefined },
        { IPv4: '172.20.1.1' },
        '172.20.1.1',
      ],
      [
        'are the one address for the first of two families where only those are given',
        { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: [] },
        { IPv4: '172.20.1.1' },
        '172.20.1.1',
      ],
      [
        'may have leading zeros',
        { clusterIP: '172.020.001.001', clusterIPs: ['172.020.001.001'] },
        { IPv4: '172.20.1.1' },
        '172.20.1.1',
      ],
      ['are none for a headless Service', { clusterIP: 'None', clusterIPs: ['None'] }, {}, 'None'],
      ['are none for an ExternalName', { type: 'ExternalName', externalName: 'example.org' }, {}, '172.20.1.1'],
    ];
    for (const [name, changes, clusterIPs, clusterIP] of cases) {
      it(name, () => {
        const value = flawless(changes);
        expect([value.clusterIPs, value.clusterIP]).to.deep.equal([clusterIPs, clusterIP]);
      });
    }
  });

  for (const clusterIP of ['', undefined, '0.0.0.0', '127.0.0.1', '224.0.0.1', '10.0.0.300']) {
    it(`does not serve a Service with clusterIP ${JSON.stringify(clusterIP)}, and says so`, () => {
      const { value, problems } = decodeService({
        metadata: { namespace: 'shop', name: 'cart' },
        spec: { clusterIP, ports: [{ port: 80 }] },
      });
      expect(value?.clusterIPs).to.deep.equal({});
      expect(problems.map(({ field }) => field)).to.deep.equal(['spec.clusterIP']);
    });
  }

  for (const ip of ['0.0.0.0', '::', '::1', 'ff02::1', '255.255.255.255']) {
    it(`leaves out the load-balancer and external address ${ip}, and says so`, () => {
      const { value, problems } = decodeService({
        metadata: { namespace: 'shop', name: 'cart' },
        spec: { clusterIP: '172.20.1.1', ports: [{ port: 80 }], externalIPs: [ip] },
        status: { loadBalancer: { ingress: [{ ip }] } },
      });
      expect([value?.externalIPs, value?.loadBalancerVIPs]).to.deep.equal([[], []]);
      expect(problems.map(({ field }) => field)).to.deep.equal([
        'spec.externalIPs[0]',
        'status.loadBalancer.ingress[0].ip',
      ]);
    });
  }

  it('asks no port of a Service that is not served', () => {
    for (const changes of [{ clusterIP: 'None' }, { type: 'ExternalName' }]) {
      expect(flawless({ ...changes, ports: undefined }).ports).to.deep.equal([]);
    }
  });

  const facts: readonly (readonly [string, Fields, Fields])[] = [
    ['each type', { type: 'LoadBalancer' }, { type: 'LoadBalancer' }],
    [
      'the policies',
      { internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' },
      { internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' },
    ],
    [
      'affinity with its time',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } } },
      { affinitySeconds: 600 },
    ],
    ['affinity with the time of the API server', { sessionAffinity: 'ClientIP' }, { affinitySeconds: 10800 }],
    [
      'no affinity where only its time is left over',
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } } },
      { affinitySeconds: 0 },
    ],
    [
      'external addresses of both families, blank ones left out',
      { ...DUAL_STACK, externalIPs: ['203.0.113.1', '', ' ', '2001:DB8::1'] },
      {
        clusterIPs: { IPv4: '172.20.1.1', IPv6: 'fd00:20::1' },
        externalIPs: ['203.0.113.1', '2001:db8::1'],
      },
    ],
    [
      'source ranges, blanks around them cut off',
      { loadBalancerSourceRanges: [' 198.51.100.7/24 ', '::/0'] },
      { loadBalancerSourceRanges: ['198.51.100.0/24', '::/0'] },
    ],
    ['the health check port', { healthCheckNodePort: 32000 }, { healthCheckNodePort: 32000 }],
    ['no health check port for 0', { healthCheckNodePort: 0 }, { healthCheckNodePort: undefined }],
    [
      'ports with node ports, 0 standing for none',
      {
        ports: [
          { name: 'a', port: 80, nodePort: 30080 },
          { name: 'b', protocol: 'SCTP', port: 81, nodePort: 0 },
        ],
      },
      {
        ports: [
          { name: 'a', protocol: 'TCP', port: 80, nodePort: 30080 },
          { name: 'b', protocol: 'SCTP', port: 81, nodePort: undefined },
        ],
      },
    ],
  ];
  for (const [name, changes, wanted] of facts) {
    it(`reads ${name}`, () => expect(flawless(changes)).to.deep.equal({ ...plain, ...wanted }));
  }

  for (const timeoutSeconds of [1, 86400]) {
    it(`accepts an affinity time of ${timeoutSeconds} seconds`, () => {
      const changes = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds } } };
      expect(flawless(changes).affinitySeconds).to.equal(timeoutSeconds);
    });
  }

  for (const timeoutSeconds of [86401, 1.5, '600']) {
    it(`takes the usual affinity time instead of ${JSON.stringify(timeoutSeconds)}`, () => {
      const { value, problems } = decoded({
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds } },
      });
      expect([value?.affinitySeconds, problems.length]).to.deep.equal([10800, 1]);
    });
  }

  it('takes null and empty text for a field that is not given', () => {
    for (const nothing of [null, '']) {
      const changes = {
        type: nothing,
        internalTrafficPolicy: nothing,
        ports: [{ name: 'http', port: 80, protocol: nothing, nodePort: null }],
      };
      expect(flawless(changes)).to.deep.equal(plain);
    }
  });

  it('leaves out addresses of a family that the Service does not have, and tells of each once', () => {
    const ingress = [{ ip: '203.0.113.9' }, { ip: '2001:db8::9' }];
    const { value, problems } = decoded({ externalIPs: ['2001:db8::1'] }, { loadBalancer: { ingress } });
    expect([value?.externalIPs, value?.loadBalancerVIPs]).to.deep.equal([[], ['203.0.113.9']]);
    expect(problems.map(({ field }) => field)).to.deep.equal([
      'spec.externalIPs[0]',
      'status.loadBalancer.ingress[1].ip',
    ]);
  });

  it('shortens what it shows of a value', () => {
    const { problems } = decoded({ externalIPs: ['x'.repeat(500)] });
    expect(problems[0]?.message)
      .to.have.length.below(120)
      .and.match(/^"x+\.\.\. is not an IP address/);
  });

  it('reads load-balancer addresses that are meant for the node, and no other entry', () => {
    const ingress = [
      { ip: '203.0.113.9' },
      { ip: '2001:db8::9', ipMode: 'VIP' },
      { ip: '203.0.113.10', ipMode: 'Proxy' },
      { ip: 'not an address', ipMode: 'Proxy' },
      { hostname: 'lb.example.org' },
      { ip: '', hostname: 'lb.example.org' },
      { ip: null, hostname: 'lb.example.org' },
    ];
    const read = flawless({ type: 'LoadBalancer', ...DUAL_STACK }, { loadBalancer: { ingress } });
    expect(read.loadBalancerVIPs).to.deep.equal(['203.0.113.9', '2001:db8::9']);
    expect(read.loadBalancerProxies).to.deep.equal(['203.0.113.10']);
  });

  const http = { name: 'http', port: 80 };
  const httpSpec = plain.ports[0];
  const faults: readonly (readonly [string, Fields, string, string, Fields])[] = [
    ['no port', { ports: [] }, 'spec.ports', 'has no port; nothing of the Service is served', { ports: [] }],
    ['no list of ports', { ports: { port: 80 } }, 'spec.ports', 'has to be a list', { ports: [] }],
    ['port 0', { ports: [http, { port: 0 }] }, 'spec.ports[1].port', '0 is not a port', {}],
    ['port 70000', { ports: [{ port: 70000 }, http] }, 'spec.ports[0].port', '70000 is not a port', {}],
    ['a port as text', { ports: [http, { port: '80' }] }, 'spec.ports[1].port', '"80" is not a port', {}],
    [
      'a port without a number',
      { ports: [http, { name: 'https' }] },
      'spec.ports[1].port',
      'undefined is not a port',
      {},
    ],
    ['a port that is none', { ports: [http, 'https'] }, 'spec.ports[1].port', 'undefined is not a port', {}],
    [
      'a protocol in lower case',
      { ports: [http, { port: 53, protocol: 'udp' }] },
      'spec.ports[1].protocol',
      '"udp" is none of TCP, UDP, SCTP',
      {},
    ],
    [
      'a node port out of range',
      { ports: [{ ...http, nodePort: 70000 }] },
      'spec.ports[0].nodePort',
      '70000 is not a port',
      {},
    ],
    [
      'a health check port out of range',
      { healthCheckNodePort: 70000 },
      'spec.healthCheckNodePort',
      '70000 is not a port',
      {},
    ],
    ['an unknown type', { type: 'Headless' }, 'spec.type', '"Headless" is none of', {}],
    [
      'an unknown internal policy',
      { internalTrafficPolicy: 'local' },
      'spec.internalTrafficPolicy',
      '"local" is none of',
      {},
    ],
    [
      'an unknown external policy',
      { externalTrafficPolicy: 'Global' },
      'spec.externalTrafficPolicy',
      '"Global" is none of',
      {},
    ],
    [
      'a cluster address that is none',
      { clusterIP: '172.20.1.300', clusterIPs: undefined },
      'spec.clusterIP',
      '"172.20.1.300" is not an IP address',
      { clusterIP: undefined, clusterIPs: {}, ports: [] },
    ],
    [
      'a cluster address of the wrong family',
      { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['172.20.1.1', '172.20.1.2'] },
      'spec.clusterIPs[1]',
      '"172.20.1.2" is not an IPv6 address',
      {},
    ],
    [
      'an external address that is none',
      { externalIPs: ['example.org', '203.0.113.1'] },
      'spec.externalIPs[0]',
      '"example.org" is not an IP address',
      { externalIPs: ['203.0.113.1'] },
    ],
    [
      'a range that is none',
      { loadBalancerSourceRanges: ['198.51.100.0/24', '10.0.0.0/33'] },
      'spec.loadBalancerSourceRanges[1]',
      '"10.0.0.0/33" is not a CIDR',
      { loadBalancerSourceRanges: ['198.51.100.0/24'], hasUnusableSourceRange: true },
    ],
    [
      'a range without a length',
      { loadBalancerSourceRanges: ['10.0.0.1'] },
      'spec.loadBalancerSourceRanges[0]',
      '"10.0.0.1" is not a CIDR',
      { hasUnusableSourceRange: true },
    ],
    [
      'an affinity time out of range',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      '0 is not a number of seconds from 1 to 86400',
      { affinitySeconds: 10800 },
    ],
  ];
  for (const [name, changes, field, message, wanted] of faults) {
    it(`complains once of ${name} and keeps the rest`, () => {
      const { value, problems } = decoded(changes);
      expect(problems.map((problem) => [problem.object, problem.field])).to.deep.equal([['Service shop/cart', field]]);
      expect(problems[0]?.message).to.include(message);
      expect(value).to.deep.equal({ ...plain, ports: [httpSpec], ...wanted });
    });
  }

  it('complains once of a load-balancer address that is none and keeps the others', () => {
    const { value, problems } = decoded(
      {},
      { loadBalancer: { ingress: [{ ip: '203.0.113.300' }, { ip: '203.0.113.9' }] } },
    );
    expect(problems.map(({ field }) => field)).to.deep.equal(['status.loadBalancer.ingress[0].ip']);
    expect(value?.loadBalancerVIPs).to.deep.equal(['203.0.113.9']);
  });

  for (const json of [{}, { metadata: { namespace: 'shop' } }, { metadata: { name: '' } }, null, 'text', []]) {
    it(`leaves out ${JSON.stringify(json)}, which has no name, and complains once`, () => {
      const { value, problems } = decodeService(json);
      expect(value).to.equal(undefined);
      expect(problems.map(({ field }) => field)).to.deep.equal(['metadata.name']);
      expect(problems[0]?.object).to.match(/^Service /);
    });
  }
});
