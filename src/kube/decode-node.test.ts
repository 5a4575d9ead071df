import { expect } from 'chai';
import { decodeNode, decodeOtherNode } from './decode-node.ts';

describe('kube/decode-node', () => {
  it('keeps of another Node its IP addresses only, as that Node itself would', () => {
    const status = {
      addresses: [
        { type: 'ExternalIP', address: '203.0.113.5' },
        { type: 'Hostname', address: '192.168.0.98' },
        { type: 'InternalDNS', address: '192.168.0.99' },
        { type: 'InternalIP', address: '192.168.0.11' },
        { type: 'InternalIP', address: 'FD00:168::11' },
      ],
    };
    const { value, problems } = decodeOtherNode({ metadata: { name: 'node-b' }, spec: { podCIDR: 'junk' }, status });
    expect([value, problems]).to.deep.equal([['192.168.0.11', 'fd00:168::11', '203.0.113.5'], []]);
  });

  it('says nothing of what cannot be read of another Node', () => {
    const junk = [{ type: 'InternalIP', address: 'node-b' }, 'text', { type: 'InternalIP', address: '192.168.0.11' }];
    const decoded = [{ status: { addresses: junk } }, { status: { addresses: 'none' } }, {}, null].map(decodeOtherNode);
    expect(decoded.map(({ value }) => value)).to.deep.equal([['192.168.0.11'], [], [], []]);
    expect(decoded.flatMap(({ problems }) => problems)).to.deep.equal([]);
  });

  it('keeps the name, zone, Pod ranges and addresses, internal ones first', () => {
    const { value, problems } = decodeNode({
      metadata: {
        name: 'node-a',
        labels: { 'topology.kubernetes.io/zone': 'zone-a', 'topology.kubernetes.io/region': 'r' },
      },
      spec: { podCIDR: '10.180.0.0/24', podCIDRs: ['10.180.0.0/24', 'FD00:180::/64'] },
      status: {
        addresses: [
          { type: 'Hostname', address: 'node-a' },
          { type: 'ExternalIP', address: '203.0.113.5' },
          { type: 'InternalIP', address: '192.168.0.10' },
          { type: 'InternalIP', address: 'fd00:168::10' },
          { type: 'InternalDNS', address: '192.168.0.99' },
        ],
      },
    });
    expect(problems).to.deep.equal([]);
    expect(value).to.deep.equal({
      name: 'node-a',
      zone: 'zone-a',
      podCIDRs: ['10.180.0.0/24', 'fd00:180::/64'],
      addresses: ['192.168.0.10', 'fd00:168::10', '203.0.113.5'],
    });
  });

  const bare = { name: 'node-a', zone: undefined, podCIDRs: [], addresses: [] };
  const sparse: readonly (readonly [string, object, object])[] = [
    ['nothing but a name', { metadata: { name: 'node-a' } }, bare],
    ['an empty zone', { metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': '' } } }, bare],
    [
      'the one Pod range of old',
      { metadata: { name: 'node-a' }, spec: { podCIDR: '10.180.0.0/24' } },
      { ...bare, podCIDRs: ['10.180.0.0/24'] },
    ],
    [
      'an address that is none',
      {
        metadata: { name: 'node-a' },
        status: {
          addresses: [
            { type: 'InternalIP', address: 'node-a' },
            { type: 'InternalIP', address: '192.168.0.10' },
          ],
        },
      },
      { ...bare, addresses: ['192.168.0.10'] },
    ],
  ];
  for (const [name, json, value] of sparse) {
    it(`takes a Node with ${name}`, () => {
      const { value: decoded, problems } = decodeNode(json);
      expect(decoded).to.deep.equal(value);
      const wrong = name === 'an address that is none' ? ['status.addresses[0].address'] : [];
      expect(problems.map(({ field }) => field)).to.deep.equal(wrong);
    });
  }

  it('complains once of a Pod range that is none and keeps the rest', () => {
    const { value, problems } = decodeNode({
      metadata: { name: 'node-a' },
      spec: { podCIDRs: ['10.180.0.0', '10.181.0.0/24'] },
    });
    expect(problems).to.deep.equal([
      { object: 'Node node-a', field: 'spec.podCIDRs[0]', message: '"10.180.0.0" is not a CIDR; it is passed over' },
    ]);
    expect(value?.podCIDRs).to.deep.equal(['10.181.0.0/24']);
  });

  it('leaves out a Node without a name and complains once', () => {
    expect(decodeNode({ spec: {} })).to.deep.equal({
      problems: [
        { object: 'Node without a name', field: 'metadata.name', message: 'is missing; the Node is left out' },
      ],
    });
  });

  const LEAVING: readonly (readonly [string, object, unknown])[] = [
    ['a deletion time', { metadata: { name: 'node-a', deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'deletion'],
    [
      "the autoscaler's taint",
      { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'X' }] } },
      'scale-down',
    ],
    ['another taint', { spec: { taints: [{ key: 'node.kubernetes.io/unreachable' }, 'junk'] } }, undefined],
    ['a cordon', { spec: { unschedulable: true } }, undefined],
  ];
  for (const [name, fields, leaving] of LEAVING) {
    it(`takes a Node with ${name} for one that ${leaving ? 'is about to go' : 'stays'}`, () => {
      const { value, problems } = decodeNode({ metadata: { name: 'node-a' }, ...fields });
      expect([value?.leaving, problems]).to.deep.equal([leaving, []]);
    });
  }
});
