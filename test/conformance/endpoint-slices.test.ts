import { expect } from 'chai';
import type { JsonRecord } from '../apiserver/api-object.ts';
import { computeSlices, type PodState } from './endpoint-slices.ts';

const POD: PodState = {
  host: 'a1',
  addresses: { IPv4: '10.180.1.11', IPv6: 'fd00:180:1::11' },
  node: 'node-a',
  zone: 'zone-1',
  labels: { app: 'web' },
  ready: true,
  terminating: false,
  ports: { http: 8080 },
};

function service(spec: JsonRecord, labels: JsonRecord = {}): JsonRecord {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }];
  const metadata = { namespace: 'shop', name: 'web', labels };
  return { metadata, spec: { selector: { app: 'web' }, ipFamilies: ['IPv4'], ports, ...spec } };
}

describe('test/conformance/endpoint-slices', () => {
  it('makes a slice a family, with the ports and conditions of the pods that the selector matches', () => {
    const other = { ...POD, labels: { app: 'db' } };
    const slices = computeSlices(service({ ipFamilies: ['IPv4', 'IPv6'] }), [POD, other], ['IPv4', 'IPv6']);
    expect(slices.map(({ addressType, ports, endpoints }) => ({ addressType, ports, endpoints }))).to.deep.equal(
      (['IPv4', 'IPv6'] as const).map((family) => ({
        addressType: family,
        ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
        endpoints: [
          {
            addresses: [POD.addresses[family]],
            nodeName: 'node-a',
            zone: 'zone-1',
            conditions: { ready: true, serving: true, terminating: false },
          },
        ],
      })),
    );
  });

  it('keeps pods apart that give a named port different numbers, and leaves out a port that a pod does not name', () => {
    const slices = computeSlices(
      service({}),
      [POD, { ...POD, ports: { http: 9090 } }, { ...POD, ports: {} }],
      ['IPv4'],
    );
    const ports = [
      [{ name: 'http', protocol: 'TCP', port: 8080 }],
      [{ name: 'http', protocol: 'TCP', port: 9090 }],
      [],
    ];
    expect(slices.map((slice) => slice.ports)).to.deep.equal(ports);
  });

  const conditions = [
    {
      title: 'a pod that ends is not ready and still serves',
      pod: { terminating: true },
      spec: {},
      wanted: [false, true, true],
    },
    { title: 'a pod that is not ready does not serve', pod: { ready: false }, spec: {}, wanted: [false, false, false] },
    {
      title: 'publishNotReadyAddresses makes every pod ready',
      pod: { ready: false, terminating: true },
      spec: { publishNotReadyAddresses: true },
      wanted: [true, false, true],
    },
  ];
  for (const { title, pod, spec, wanted } of conditions) {
    it(title, () => {
      const [slice] = computeSlices(service(spec), [{ ...POD, ...pod }], ['IPv4']);
      const [ready, serving, terminating] = wanted;
      expect(slice?.endpoints)
        .to.have.nested.property('[0].conditions')
        .that.deep.equals({ ready, serving, terminating });
    });
  }

  it('gives hints of zones, and of nodes where they are preferred', () => {
    const hints = (trafficDistribution: string) => computeSlices(service({ trafficDistribution }), [POD], ['IPv4'])[0];
    const forZones = [{ name: 'zone-1' }];
    expect(hints('PreferClose')).to.have.nested.property('endpoints[0].hints').that.deep.equals({ forZones });
    expect(hints('PreferSameNode'))
      .to.have.nested.property('endpoints[0].hints')
      .that.deep.equals({ forZones, forNodes: [{ name: 'node-a' }] });
  });

  it('mirrors labels but for the headless one, which says that the Service has no address', () => {
    const label = 'service.kubernetes.io/headless';
    const [served] = computeSlices(service({}, { team: 'x', [label]: '' }), [POD], ['IPv4']);
    expect(served).to.have.nested.property('metadata.labels.team', 'x');
    expect(served?.metadata).to.have.property('labels').that.does.not.have.property(label);
    const [headless] = computeSlices(service({ clusterIP: 'None' }), [POD], ['IPv4']);
    expect(headless?.metadata).to.have.property('labels').that.has.property(label, '');
  });

  it('makes none for a Service without a selector, nor for an ExternalName', () => {
    expect(computeSlices(service({ selector: {} }), [POD], ['IPv4'])).to.deep.equal([]);
    expect(computeSlices(service({ type: 'ExternalName' }), [POD], ['IPv4'])).to.deep.equal([]);
  });
});
