import { expect } from 'chai';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { portSpec, service, servicePort } from '../../test/builders/objects.ts';
import type { Service } from '../model/service.ts';
import type { ServicePort } from '../model/service-port.ts';
import type { Family } from '../net/family.ts';
import { servicePorts } from './service-ports.ts';

describe('tracking/service-ports', () => {
  it('gives the facts of a plain port', () => {
    expect(servicePorts(service(), 'IPv4')).to.deep.equal(new Map([['shop/cart:http/TCP', servicePort()]]));
  });

  it('gives one entry for each port, also where only the protocol differs', () => {
    const ports = [
      portSpec({ name: 'dns', protocol: 'UDP', port: port(53) }),
      portSpec({ name: 'dns', port: port(53), nodePort: port(30053) }),
      portSpec({ name: '' }),
    ];
    const found = [...(servicePorts(service({ ports }), 'IPv4') ?? [])].map(([key, each]) => [
      key,
      each.port,
      each.nodePort,
    ]);
    expect(found).to.deep.equal([
      ['shop/cart:dns/UDP', 53, undefined],
      ['shop/cart:dns/TCP', 53, 30053],
      ['shop/cart:/TCP', 80, undefined],
    ]);
  });

  const unserved: readonly (readonly [string, Service, Family])[] = [
    ['a headless Service', service({ clusterIP: 'None' }), 'IPv4'],
    ['a Service without an address', service({ clusterIP: undefined }), 'IPv4'],
    ['an ExternalName with an address', service({ type: 'ExternalName' }), 'IPv4'],
    ['an IPv4 Service', service(), 'IPv6'],
    ['an IPv6 Service', service({ addresses: ['fd00::1'] }), 'IPv4'],
  ];
  for (const [name, given, family] of unserved) {
    it(`gives no map for ${name} in ${family}`, () => expect(servicePorts(given, family)).to.equal(undefined));
  }

  it('gives an empty map, not none, for a served Service without ports', () => {
    expect(servicePorts(service({ ports: [] }), 'IPv4')).to.deep.equal(new Map());
  });

  it('gives each family its own addresses and ranges', () => {
    const dual = service({
      type: 'LoadBalancer',
      addresses: ['172.20.1.1', 'fd00::1'],
      externalIPs: ['203.0.113.1', '2001:db8::1', '203.0.113.2'].map(ip),
      loadBalancerVIPs: ['2001:db8::9', '203.0.113.9'].map(ip),
      loadBalancerSourceRanges: ['198.51.100.0/24', '2001:db8::/32'].map(cidr),
    });
    const facts = ({ clusterIP, externalIPs, loadBalancerVIPs, loadBalancerSourceRanges }: ServicePort) => {
      return [clusterIP, externalIPs, loadBalancerVIPs, loadBalancerSourceRanges];
    };
    expect(facts(only(dual, 'IPv4'))).to.deep.equal([
      '172.20.1.1',
      ['203.0.113.1', '203.0.113.2'],
      ['203.0.113.9'],
      ['198.51.100.0/24'],
    ]);
    expect(facts(only(dual, 'IPv6'))).to.deep.equal(['fd00::1', ['2001:db8::1'], ['2001:db8::9'], ['2001:db8::/32']]);
  });

  const ranges: readonly (readonly [string, readonly string[], readonly string[], readonly string[]])[] = [
    ['ranges of one family leave the other open', ['198.51.100.0/24'], ['198.51.100.0/24'], []],
    ['a range of all addresses opens its family', ['198.51.100.0/24', '0.0.0.0/0'], [], []],
    [
      'a range of all addresses leaves the other family restricted',
      ['0.0.0.0/0', '2001:db8::/32'],
      [],
      ['2001:db8::/32'],
    ],
    [
      'a range of all IPv6 addresses does so too',
      ['198.51.100.0/24', '::/0', '2001:db8::/32'],
      ['198.51.100.0/24'],
      [],
    ],
  ];
  for (const [name, given, ipv4, ipv6] of ranges) {
    it(`restricts sources by family: ${name}`, () => {
      const dual = service({ addresses: ['172.20.1.1', 'fd00::1'], loadBalancerSourceRanges: given.map(cidr) });
      expect(only(dual, 'IPv4').loadBalancerSourceRanges).to.deep.equal(ipv4);
      expect(only(dual, 'IPv6').loadBalancerSourceRanges).to.deep.equal(ipv6);
    });
  }

  const elsewhere: readonly (readonly [string, Parameters<typeof service>[0], boolean, boolean])[] = [
    ['no range at all', {}, false, false],
    ['ranges of IPv4 only', { loadBalancerSourceRanges: [cidr('198.51.100.0/24')] }, false, true],
    ['ranges of both', { loadBalancerSourceRanges: ['198.51.100.0/24', '2001:db8::/32'].map(cidr) }, false, false],
    ['a range of all IPv4 addresses', { loadBalancerSourceRanges: [cidr('0.0.0.0/0')] }, false, false],
    [
      'a range of all IPv4 addresses among others',
      { loadBalancerSourceRanges: ['198.51.100.0/24', '0.0.0.0/0'].map(cidr) },
      false,
      false,
    ],
    ['no range that can be read', { hasUnusableSourceRange: true }, true, true],
    [
      'ranges of IPv6, and one that cannot be read',
      { loadBalancerSourceRanges: [cidr('2001:db8::/32')], hasUnusableSourceRange: true },
      true,
      false,
    ],
  ];
  for (const [name, given, ipv4, ipv6] of elsewhere) {
    it(`tells whether sources are restricted otherwise than by ranges of the family: ${name}`, () => {
      const dual = service({ addresses: ['172.20.1.1', 'fd00::1'], ...given });
      expect([only(dual, 'IPv4').restrictedElsewhere, only(dual, 'IPv6').restrictedElsewhere]).to.deep.equal([
        ipv4,
        ipv6,
      ]);
    });
  }

  const policies: readonly (readonly [string, Parameters<typeof service>[0], boolean])[] = [
    ['a LoadBalancer', { type: 'LoadBalancer' }, true],
    ['a NodePort', { type: 'NodePort' }, true],
    ['a ClusterIP with an external address', { externalIPs: [ip('203.0.113.1')] }, true],
    ['a ClusterIP with an external address of the other family', { externalIPs: [ip('2001:db8::1')] }, true],
    ['a ClusterIP without one', {}, false],
    ['a LoadBalancer with policy Cluster', { type: 'LoadBalancer', externalTrafficPolicy: 'Cluster' }, false],
  ];
  for (const [name, given, local] of policies) {
    it(`${local ? 'heeds' : 'passes over'} external policy Local on ${name}`, () => {
      const found = only(service({ externalTrafficPolicy: 'Local', ...given }), 'IPv4');
      expect([found.externalPolicyLocal, found.internalPolicyLocal]).to.deep.equal([local, false]);
    });
  }

  it('heeds internal policy Local on every type', () => {
    const found = only(service({ internalTrafficPolicy: 'Local' }), 'IPv4');
    expect([found.internalPolicyLocal, found.externalPolicyLocal]).to.deep.equal([true, false]);
  });

  it('carries the affinity to each port', () => {
    expect(only(service({ affinitySeconds: 10800 }), 'IPv4').affinitySeconds).to.equal(10800);
  });

  const checks: readonly (readonly [string, Parameters<typeof service>[0], number | undefined])[] = [
    ['a LoadBalancer with policy Local', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, 32000],
    ['a LoadBalancer with policy Cluster', { type: 'LoadBalancer' }, undefined],
    ['a NodePort with policy Local', { type: 'NodePort', externalTrafficPolicy: 'Local' }, undefined],
  ];
  for (const [name, given, wanted] of checks) {
    it(`${wanted ? 'has' : 'has no'} health check port on ${name}`, () => {
      const found = only(service({ healthCheckNodePort: port(32000), ...given }), 'IPv4');
      expect(found.healthCheckNodePort).to.equal(wanted);
    });
  }
});

function only(given: Service, family: Family): ServicePort {
  const [found, ...more] = servicePorts(given, family)?.values() ?? [];
  if (!found || more.length > 0) throw new Error('exactly one port was expected');
  return found;
}
