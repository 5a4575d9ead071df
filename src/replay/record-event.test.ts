import { expect } from 'chai';
import { decodeNode } from '../kube/decode-node.ts';
import { decodeService } from '../kube/decode-service.ts';
import { decodeEndpointSlice } from '../kube/decode-slice.ts';
import { SERVICE_SELECTION, SLICE_SELECTION } from '../kube/selectors.ts';
import { recordEvent } from './record-event.ts';
import { parseTraceEvent, type TracedKind } from './trace-event.ts';

describe('replay/record-event', () => {
  const meta = {
    namespace: 'shop',
    name: 'cart',
    uid: 'u-1',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: { secret: 'of nobody' },
    managedFields: [{ manager: 'kubectl' }],
    ownerReferences: [{ name: 'x' }],
  };
  const service = {
    metadata: { ...meta, labels: { app: 'cart', 'service.kubernetes.io/service-proxy-name': 'other' } },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '172.20.1.1',
      clusterIPs: ['172.20.1.1', 'fd00::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'PreferDualStack',
      selector: { app: 'cart' },
      ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080, targetPort: 'web', appProtocol: 'http' }],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
      internalTrafficPolicy: 'Local',
      externalTrafficPolicy: 'Local',
      externalIPs: ['203.0.113.1'],
      loadBalancerSourceRanges: ['192.0.2.0/24', 'junk'],
      healthCheckNodePort: 31000,
    },
    status: {
      loadBalancer: {
        ingress: [
          { ip: '203.0.113.2', hostname: 'lb.example.com' },
          { ip: '203.0.113.3', ipMode: 'Proxy' },
        ],
      },
      conditions: [{ type: 'Seen', message: 'a text' }],
    },
  };
  const slice = {
    metadata: {
      ...meta,
      labels: { app: 'cart', 'kubernetes.io/service-name': 'cart', 'service.kubernetes.io/headless': '' },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'http' }],
    endpoints: [
      {
        addresses: ['10.180.0.1'],
        conditions: { ready: false, serving: true, terminating: true },
        nodeName: 'node-a',
        zone: 'zone-a',
        hints: { forZones: [{ name: 'zone-b' }] },
        targetRef: { kind: 'Pod', name: 'cart-0', uid: 'p-1' },
        hostname: 'cart-0',
      },
    ],
  };
  const node = {
    metadata: { ...meta, namespace: undefined, labels: { 'topology.kubernetes.io/zone': 'zone-a', os: 'linux' } },
    spec: { podCIDR: '10.180.0.0/24', podCIDRs: ['10.180.0.0/24'], providerID: 'x', taints: [] },
    status: {
      addresses: [{ type: 'InternalIP', address: '192.168.0.10' }],
      conditions: [{ type: 'Ready', lastHeartbeatTime: 'now' }],
      images: [{ names: ['x'] }],
    },
  };
  const broken: readonly object[] = [
    { metadata: { name: 'cart' }, spec: { ports: 'none', externalIPs: 5 }, status: { loadBalancer: { ingress: {} } } },
    { metadata: { name: 'cart' }, spec: null, status: 7 },
    {
      metadata: { name: 'cart', labels: null },
      endpoints: [null, 'x', { addresses: 'y' }],
      ports: {},
      addressType: 'IPv4',
    },
    {
      metadata: { name: 'cart' },
      spec: { podCIDRs: 'x', taints: 7 },
      status: { addresses: [5, { type: 'InternalIP' }] },
    },
    { metadata: 'x' },
  ];

  const recorded = (kind: TracedKind, object: unknown) => {
    const line = recordEvent('MODIFIED', kind, object, 3);
    return (JSON.parse(line) as { readonly object: unknown }).object;
  };
  const decoders = { Service: decodeService, EndpointSlice: decodeEndpointSlice, Node: decodeNode } as const;
  const cases: readonly (readonly [TracedKind, object])[] = [
    ['Service', service],
    ['EndpointSlice', slice],
    ['Node', node],
    [
      'Node',
      { ...node, spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect: 'NoSchedule' }] } },
    ],
    ['Node', { ...node, metadata: { ...node.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } }],
    ...broken.flatMap((object) =>
      (['Service', 'EndpointSlice', 'Node'] as const).map((kind) => [kind, object] as const),
    ),
  ];
  for (const [kind, object] of cases) {
    it(`keeps all of a ${kind} that is read of it: ${JSON.stringify(object).slice(0, 60)}`, () => {
      expect(decoders[kind](recorded(kind, object))).to.deep.equal(decoders[kind](object));
      for (const { selects } of [SERVICE_SELECTION, SLICE_SELECTION])
        expect(selects(recorded(kind, object))).to.equal(selects(object));
    });
  }

  it('leaves out everything else', () => {
    const texts = [recorded('Service', service), recorded('EndpointSlice', slice), recorded('Node', node)];
    const forbidden = [
      'annotations',
      'managedFields',
      'ownerReferences',
      'app',
      'selector',
      'targetPort',
      'conditions":[',
    ];
    for (const word of [...forbidden, 'targetRef', 'images', 'providerID', 'hostname', 'os"', 'a text'])
      for (const text of texts) expect(JSON.stringify(text)).to.not.include(`${word}`);
  });

  it('gives a line that a trace may have, though items of lists have no kind', () => {
    for (const [kind, object] of [
      ['Service', service],
      ['EndpointSlice', slice],
      ['Node', node],
    ] as const) {
      const parsed = parseTraceEvent(recordEvent('ADDED', kind, object, 12.5));
      expect(parsed.ok && [parsed.value.atMs, parsed.value.type, parsed.value.kind]).to.deep.equal([
        12.5,
        'ADDED',
        kind,
      ]);
    }
  });
});
