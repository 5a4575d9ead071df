import { expect } from 'chai';
import { slice, sliceEndpoint, slicePort } from '../../test/builders/objects.ts';
import { decodeEndpointSlice } from './decode-slice.ts';

type Fields = Readonly<Record<string, unknown>>;

describe('kube/decode-slice', () => {
  const object: Fields = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'shop', name: 'cart-1', labels: { 'kubernetes.io/service-name': 'cart' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: [{ addresses: ['10.180.0.1'], conditions: { ready: true, serving: true, terminating: false } }],
  };
  const plain = slice({ endpoints: [sliceEndpoint('10.180.0.1')] });

  const decode = (changes: Fields) => decodeEndpointSlice({ ...object, ...changes });

  it('keeps what kernel state depends on', () => {
    const { value, problems } = decode({});
    expect([value, problems]).to.deep.equal([plain, []]);
    expect(Object.isFrozen(value)).to.equal(true);
  });

  it('belongs to the Service of its label in its own namespace, whatever owns it', () => {
    const metadata = {
      namespace: 'bank',
      name: 'x',
      labels: { 'kubernetes.io/service-name': 'till' },
      ownerReferences: [{ kind: 'Service', name: 'other' }],
    };
    expect(decode({ metadata }).value).to.include({ name: 'bank/x', service: 'bank/till' });
    expect(decode({ metadata: { ...metadata, namespace: undefined } }).value).to.include({
      name: 'default/x',
      service: 'default/till',
    });
  });

  const conditions: readonly (readonly [string, unknown, Parameters<typeof sliceEndpoint>[1]])[] = [
    ['none at all', undefined, {}],
    ['an empty record', {}, {}],
    ['nulls', { ready: null, serving: null, terminating: null }, {}],
    ['not ready', { ready: false }, { ready: false }],
    ['not serving, which says nothing of ready', { serving: false }, { serving: false }],
    ['terminating', { ready: false, serving: true, terminating: true }, { ready: false, terminating: true }],
  ];
  for (const [name, given, wanted] of conditions) {
    it(`reads conditions: ${name}`, () => {
      const { value, problems } = decode({ endpoints: [{ addresses: ['10.180.0.1'], conditions: given }] });
      expect([value?.endpoints, problems]).to.deep.equal([[sliceEndpoint('10.180.0.1', wanted)], []]);
    });
  }

  it('reads where an endpoint is and whom it is meant for', () => {
    const hints = { forZones: [{ name: 'zone-a' }, { name: 'zone-b' }], forNodes: [{ name: 'node-a' }] };
    const { value } = decode({ endpoints: [{ addresses: ['10.180.0.1'], nodeName: 'node-a', zone: 'zone-z', hints }] });
    const wanted = { nodeName: 'node-a', zoneHints: ['zone-a', 'zone-b'], nodeHints: ['node-a'] };
    expect(value?.endpoints).to.deep.equal([sliceEndpoint('10.180.0.1', wanted)]);
  });

  it('reads empty lists of hints as no hints', () => {
    const { value, problems } = decode({
      endpoints: [{ addresses: ['10.180.0.1'], hints: { forZones: [], forNodes: null } }],
    });
    expect([value?.endpoints, problems]).to.deep.equal([[sliceEndpoint('10.180.0.1')], []]);
  });

  it('takes only the first address of an endpoint', () => {
    const { value, problems } = decode({ endpoints: [{ addresses: ['10.180.0.1', '10.180.0.2', 'junk'] }] });
    expect([value?.endpoints.map(({ address }) => address), problems]).to.deep.equal([['10.180.0.1'], []]);
  });

  it('takes an unnamed port for the unnamed port of the Service, and a missing protocol for TCP', () => {
    const { value, problems } = decode({ ports: [{ port: 8080 }, { name: '', port: 8081, protocol: 'UDP' }] });
    expect(value?.ports).to.deep.equal([slicePort({ name: '' }), { name: '', protocol: 'UDP', port: 8081 }]);
    expect(problems).to.deep.equal([]);
  });

  it('takes a slice without ports and endpoints', () => {
    for (const nothing of [[], null, undefined]) {
      const { value, problems } = decode({ ports: nothing, endpoints: nothing });
      expect([value, problems]).to.deep.equal([slice({ ports: [], endpoints: [] }), []]);
    }
  });

  it('reads addresses of the slice type in any spelling', () => {
    const { value } = decode({ addressType: 'IPv6', endpoints: [{ addresses: ['FD00:180:0::1'] }] });
    expect([value?.family, value?.endpoints[0]?.address]).to.deep.equal(['IPv6', 'fd00:180::1']);
    expect(decode({ endpoints: [{ addresses: ['10.180.000.01'] }] }).value?.endpoints[0]?.address).to.equal(
      '10.180.0.1',
    );
  });

  const good = { addresses: ['10.180.0.1'] };
  const goodPort = { name: 'http', port: 8080 };
  const faults: readonly (readonly [string, Fields, string, string])[] = [
    [
      'an endpoint without addresses',
      { endpoints: [good, { addresses: [] }] },
      'endpoints[1].addresses',
      'is empty; the endpoint is left out',
    ],
    [
      'an endpoint that is none',
      { endpoints: ['10.180.0.2', good] },
      'endpoints[0].addresses',
      'is empty; the endpoint is left out',
    ],
    [
      'an address that is none',
      { endpoints: [{ addresses: ['10.0.0.300'] }, good] },
      'endpoints[0].addresses[0]',
      '"10.0.0.300" is not an IPv4 address',
    ],
    [
      'an address of the other family',
      { endpoints: [good, { addresses: ['fd00::1'] }] },
      'endpoints[1].addresses[0]',
      '"fd00::1" is not an IPv4 address',
    ],
    [
      'an address that is a list no more',
      { endpoints: [good, { addresses: ['10.180.0.2/32'] }] },
      'endpoints[1].addresses[0]',
      'is not an IPv4 address',
    ],
    [
      'the unspecified address',
      { endpoints: [{ addresses: ['0.0.0.0'] }, good] },
      'endpoints[0].addresses[0]',
      'cannot be the address of an endpoint',
    ],
    [
      'a multicast address',
      { endpoints: [good, { addresses: ['224.0.0.1'] }] },
      'endpoints[1].addresses[0]',
      'cannot be the address of an endpoint',
    ],
    [
      'a port whose name is null',
      { ports: [{ name: null, port: 8081 }, goodPort] },
      'ports[0].name',
      'is null; the port is left out',
    ],
    ['a port without a number', { ports: [goodPort, { name: 'https' }] }, 'ports[1].port', 'is missing'],
    ['a port number that is null', { ports: [goodPort, { name: 'https', port: null }] }, 'ports[1].port', 'is missing'],
    ['port 0', { ports: [goodPort, { name: 'https', port: 0 }] }, 'ports[1].port', 'is 0'],
    ['port 70000', { ports: [goodPort, { name: 'https', port: 70000 }] }, 'ports[1].port', 'is 70000'],
    ['a port as text', { ports: [goodPort, { name: 'https', port: '8443' }] }, 'ports[1].port', 'is "8443"'],
    [
      'an unknown protocol',
      { ports: [goodPort, { name: 'ping', protocol: 'ICMP', port: 1 }] },
      'ports[1].protocol',
      '"ICMP" is none of TCP, UDP, SCTP',
    ],
    [
      'hints that are no list',
      { endpoints: [{ ...good, hints: { forZones: 'zone-a' } }] },
      'endpoints[0].hints.forZones',
      'has to be a list',
    ],
  ];
  for (const [name, changes, field, message] of faults) {
    it(`complains once of ${name} and keeps the rest`, () => {
      const { value, problems } = decode(changes);
      expect(problems.map((problem) => [problem.object, problem.field])).to.deep.equal([
        ['EndpointSlice shop/cart-1', field],
      ]);
      expect(problems[0]?.message).to.include(message);
      expect(value).to.deep.equal(plain);
    });
  }

  const unusable: readonly (readonly [string, Fields, string])[] = [
    ['of an unknown address type', { addressType: 'MAC' }, 'addressType'],
    ['without an address type', { addressType: undefined }, 'addressType'],
    [
      'without the label of its Service',
      { metadata: { namespace: 'shop', name: 'cart-1' } },
      'metadata.labels["kubernetes.io/service-name"]',
    ],
    [
      'with an empty label',
      { metadata: { name: 'cart-1', labels: { 'kubernetes.io/service-name': '' } } },
      'metadata.labels["kubernetes.io/service-name"]',
    ],
    ['without a name', { metadata: { labels: { 'kubernetes.io/service-name': 'cart' } } }, 'metadata.name'],
  ];
  for (const [name, changes, field] of unusable) {
    it(`leaves out a slice ${name} and complains once`, () => {
      const { value, problems } = decode(changes);
      expect([value, problems.map((problem) => problem.field)]).to.deep.equal([undefined, [field]]);
    });
  }

  const loopback: readonly (readonly [string, string])[] = [
    ['IPv4', '127.0.0.1'],
    ['IPv6', '::1'],
  ];
  for (const [addressType, address] of loopback) {
    it(`R54: keeps an endpoint at ${address} and names its Service, as only the node itself reaches it`, () => {
      const { value, problems } = decode({ addressType, endpoints: [{ addresses: [address] }] });
      expect(value?.endpoints.map((endpoint) => endpoint.address)).to.deep.equal([address]);
      const message = `${address}, an endpoint of Service shop/cart, is a loopback address: only the node itself reaches it`;
      expect(problems).to.deep.equal([
        { object: 'EndpointSlice shop/cart-1', field: 'endpoints[0].addresses[0]', message },
      ]);
    });
  }

  it('leaves out a slice of host names without a word', () => {
    expect(decode({ addressType: 'FQDN', endpoints: [{ addresses: ['example.org'] }] })).to.deep.equal({
      problems: [],
    });
  });

  const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time';
  const triggeredAt = (time: unknown) =>
    decode({ metadata: { ...(object.metadata as object), annotations: { [TRIGGER]: time, other: 'x' } } });

  for (const [text, ms] of [
    ['2026-01-01T00:00:01Z', 1_767_225_601_000],
    ['2026-01-01T01:00:01.250+01:00', 1_767_225_601_250],
    ['2026-01-01T00:00:01.123456789Z', 1_767_225_601_123],
  ] as const) {
    it(`reads ${text} as the time of the change behind the slice`, () => {
      const { value, problems } = triggeredAt(text);
      expect([value, problems]).to.deep.equal([{ ...plain, changeTriggerMs: ms }, []]);
    });
  }

  for (const text of ['yesterday', '2026-01-01', '2026-13-01T00:00:00Z', 5]) {
    it(`complains of ${text} as a time of change and goes on without`, () => {
      const { value, problems } = triggeredAt(text);
      expect(value).to.deep.equal(plain);
      expect(problems.map(({ field }) => field)).to.deep.equal([`metadata.annotations["${TRIGGER}"]`]);
    });
  }
});
