import { expect } from 'chai';
import { cidr, ip } from '../../test/builders/net.ts';
import { nodeView, settings } from '../../test/builders/objects.ts';
import type { Family } from '../net/family.ts';
import { nodeInputs } from './node-inputs.ts';
import type { DetectLocal, ProxySettings } from './settings.ts';

describe('desired/node-inputs', () => {
  const interfaces = {
    lo: ['127.0.0.1/8', '::1/128'],
    eth0: ['192.168.0.10/24', 'fd00:168::10/64', 'fe80::10/64'],
    eth1: ['192.168.1.10/24', '192.168.0.10/32', '169.254.20.10/32'],
    'kube-ipvs0': ['172.20.1.1/32', 'fd00:20::1/128'],
  };
  const addresses = ['192.168.0.10', '192.168.1.10', 'fd00:168::10', '203.0.113.10'].map(ip);
  const node = nodeView({ interfaces, addresses });

  const everyIPv4 = ['192.168.0.10', '192.168.1.10', '169.254.20.10'];
  const everyIPv6 = ['fd00:168::10'];
  const cases: readonly (readonly [string, readonly string[], readonly string[], readonly string[]])[] = [
    [
      'every address of the node without a setting, but no loopback and no IPv6 link-local one',
      [],
      everyIPv4,
      everyIPv6,
    ],
    ['the addresses inside the ranges', ['192.168.1.0/24', 'fd00:168::/64'], ['192.168.1.10'], everyIPv6],
    [
      'the addresses inside any of the ranges, each once',
      ['192.168.0.0/16', '192.168.1.0/24', 'fd00::1/128'],
      ['192.168.0.10', '192.168.1.10'],
      [],
    ],
    ['none when no address is inside', ['10.0.0.0/8', '2001:db8::/32'], [], []],
    ['every address of a family whose ranges are not given', ['192.168.1.0/24'], ['192.168.1.10'], everyIPv6],
    [
      'every address when a range of all is among others',
      ['192.168.1.0/24', '0.0.0.0/0', '::/0'],
      everyIPv4,
      everyIPv6,
    ],
    ['the first address of each family that the Node names', ['primary'], ['192.168.0.10'], everyIPv6],
    ['the first address beside a range', ['primary', '169.254.0.0/16'], ['192.168.0.10', '169.254.20.10'], everyIPv6],
    [
      'addresses of Services when a range covers them',
      ['172.20.0.0/16', 'fd00:20::/64'],
      ['172.20.1.1'],
      ['fd00:20::1'],
    ],
    ['IPv6 link-local ones when a range covers them', ['fe80::/10'], everyIPv4, ['fe80::10']],
    ['no loopback address even when asked for', ['127.0.0.0/8', '::1/128'], [], []],
  ];
  const documented: typeof cases = [
    [
      'every address of the node without a setting, but no loopback and no link-local one',
      [],
      ['192.168.0.10', '192.168.1.10'],
      everyIPv6,
    ],
    ['the addresses inside the ranges', ['192.168.1.0/24', 'fd00:168::/64'], ['192.168.1.10'], everyIPv6],
    ['no address of a family whose ranges are not given', ['192.168.1.0/24'], ['192.168.1.10'], []],
    [
      'every address when a range of all is among others, but no link-local one',
      ['192.168.1.0/24', '0.0.0.0/0', '::/0'],
      ['192.168.0.10', '192.168.1.10'],
      everyIPv6,
    ],
    ['the first address of each family that the Node names', ['primary'], ['192.168.0.10'], everyIPv6],
    ['link-local ones when a range asks for just them', ['169.254.0.0/16'], ['169.254.20.10'], []],
    ['no link-local ones when a larger range covers them', ['160.0.0.0/4'], [], []],
    ['no address of Services though a range covers it', ['172.20.0.0/16', 'fd00:20::/64'], [], []],
    ['no IPv6 link-local ones even when asked for', ['fe80::/10'], [], []],
    ['no loopback address even when asked for', ['127.0.0.0/8', '::1/128'], [], []],
  ];
  const both = [
    ...cases.map((row) => ['kube-proxy', ...row] as const),
    ...documented.map((row) => ['documented', ...row] as const),
  ];
  for (const [behaviour, name, configured, ipv4, ipv6] of both) {
    it(`serves node ports under ${behaviour} on ${name}: ${configured.join(', ') || 'nothing configured'}`, () => {
      const nodePortAddresses = configured.map((text) => (text === 'primary' ? text : cidr(text)));
      const given = settings({ behaviour, nodePortAddresses });
      const found = (family: Family) => nodeInputs(node, family, given).nodePortAddresses;
      expect(found('IPv4')).to.deep.equal(ipv4);
      expect(found('IPv6')).to.deep.equal(ipv6);
    });
  }

  it('serves node ports nowhere when the Node names no address to be the primary one; kube-proxy everywhere', () => {
    const served = (behaviour: 'documented' | 'kube-proxy') =>
      nodeInputs(nodeView({ interfaces }), 'IPv4', settings({ behaviour, nodePortAddresses: ['primary'] }))
        .nodePortAddresses;
    expect([served('documented'), served('kube-proxy')]).to.deep.equal([[], everyIPv4]);
  });

  it('knows which addresses other nodes have and this one has not, unless it is to do as kube-proxy', () => {
    const otherNodeAddresses = new Set(['192.168.0.10', '192.168.0.11', '192.168.0.12'].map(ip));
    const known = (behaviour: 'documented' | 'kube-proxy') => [
      ...nodeInputs(nodeView({ otherNodeAddresses }), 'IPv4', settings({ behaviour })).otherNodeAddresses,
    ];
    expect([known('documented'), known('kube-proxy')]).to.deep.equal([['192.168.0.11', '192.168.0.12'], []]);
  });

  it('knows the addresses of every interface but the dummy one as its own', () => {
    expect(nodeInputs(node, 'IPv4', settings()).ownAddresses).to.deep.equal(everyIPv4);
    expect(nodeInputs(node, 'IPv6', settings()).ownAddresses).to.deep.equal(everyIPv6);
  });

  it('takes an address that stands on the dummy interface and elsewhere for its own', () => {
    const both = nodeView({ interfaces: { eth0: ['192.168.0.10/24'], 'kube-ipvs0': ['192.168.0.10/32'] } });
    expect(nodeInputs(both, 'IPv4', settings()).ownAddresses).to.deep.equal(['192.168.0.10']);
  });

  it('takes the first address of the family that the Node names for the main one, else the first of its interfaces', () => {
    const main = (view: typeof node) =>
      (['IPv4', 'IPv6'] as const).map((family) => nodeInputs(view, family, settings()).primaryAddress);
    expect(main(node)).to.deep.equal(['192.168.0.10', 'fd00:168::10']);
    expect(main(nodeView({ interfaces, addresses: [ip('203.0.113.10')] }))).to.deep.equal([
      '203.0.113.10',
      'fd00:168::10',
    ]);
    expect(main(nodeView({ interfaces: {} }))).to.deep.equal([undefined, undefined]);
    const asKubeProxy = nodeInputs(nodeView({ interfaces }), 'IPv4', settings({ behaviour: 'kube-proxy' }));
    expect(asKubeProxy.primaryAddress).to.equal(undefined);
  });

  for (const [family, given, other] of [
    ['IPv4', '192.168.1.10', 'fd00:168::10'],
    ['IPv6', 'fd00:168::99', '192.168.0.10'],
  ] as const) {
    it(`takes a given ${family} address for the main one of its family only, whatever the Node names`, () => {
      for (const behaviour of ['documented', 'kube-proxy'] as const) {
        const given4or6 = settings({ behaviour, nodeAddress: ip(given) });
        expect(nodeInputs(node, family, given4or6).primaryAddress).to.equal(given);
        const otherFamily = family === 'IPv4' ? 'IPv6' : 'IPv4';
        expect(nodeInputs(node, otherFamily, given4or6).primaryAddress).to.equal(other);
      }
    });
  }

  it('serves node ports at a given address where `primary` asks for the main one', () => {
    const given = settings({ nodeAddress: ip('192.168.1.10'), nodePortAddresses: ['primary'] });
    expect(nodeInputs(node, 'IPv4', given).nodePortAddresses).to.deep.equal(['192.168.1.10']);
  });

  it('stands where the Node says', () => {
    expect(nodeInputs(nodeView({ zone: 'zone-a' }), 'IPv4', settings()).place).to.deep.equal({
      name: 'node-a',
      zone: 'zone-a',
    });
  });

  const pods = ['fd00:180::/64', '10.180.0.0/24', '10.180.1.0/24'].map(cidr);
  const detectors: readonly (readonly [string, DetectLocal, unknown, unknown])[] = [
    [
      'the first cluster range of the family',
      { kind: 'cluster-cidr', cidrs: ['fd00:180::/48', 'fd00:190::/48', '10.180.0.0/16', '10.190.0.0/16'].map(cidr) },
      { kind: 'source', cidr: '10.180.0.0/16' },
      { kind: 'source', cidr: 'fd00:180::/48' },
    ],
    [
      'nothing without a cluster range of the family',
      { kind: 'cluster-cidr', cidrs: [cidr('10.180.0.0/16')] },
      { kind: 'source', cidr: '10.180.0.0/16' },
      undefined,
    ],
    [
      'the first Pod range of the Node',
      { kind: 'node-cidr' },
      { kind: 'source', cidr: '10.180.0.0/24' },
      { kind: 'source', cidr: 'fd00:180::/64' },
    ],
    [
      'the bridge',
      { kind: 'bridge-interface', name: 'cni0' },
      { kind: 'interface', name: 'cni0' },
      { kind: 'interface', name: 'cni0' },
    ],
    [
      'interfaces by the start of their names',
      { kind: 'interface-name-prefix', prefix: 'veth' },
      { kind: 'interface', name: 'veth+' },
      { kind: 'interface', name: 'veth+' },
    ],
  ];
  for (const [name, detectLocal, ipv4, ipv6] of detectors) {
    it(`tells traffic of Pods by ${name} (${detectLocal.kind})`, () => {
      const found = (family: Family) =>
        nodeInputs(nodeView({ podCIDRs: pods }), family, settings({ detectLocal })).detector;
      expect([found('IPv4'), found('IPv6')]).to.deep.equal([ipv4, ipv6]);
    });
  }

  it('cannot tell traffic of Pods by the Node when it has no Pod range', () => {
    const given: Partial<ProxySettings> = { detectLocal: { kind: 'node-cidr' } };
    expect(nodeInputs(nodeView(), 'IPv4', settings(given)).detector).to.equal(undefined);
  });
});
