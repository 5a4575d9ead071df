import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { realServerKey } from '../kernel/ipvs/state.ts';
import type { ServicePort } from '../model/service-port.ts';

describe('desired/claims', () => {
  const vip = ip('203.0.113.1');
  const served = (ports: readonly ServicePort[], frontend: string) => {
    const endpoints = ports.map((_, index) => [endpoint({ address: ip(`10.180.1.${index + 1}`) })]);
    const desired = desiredFor(ports.map((each, index) => [each, endpoints[index] ?? []]));
    const server = [...desired.kernel.ipvs].find(([key]) => key === frontend)?.[1];
    const sets = Object.fromEntries([...desired.kernel.sets].map(([name, { entries }]) => [name, [...entries]]));
    return { ...desired, sets, reals: server?.realServers.map(realServerKey) };
  };

  const dns = servicePort({ name: 'kube-system/dns', clusterIP: ip('172.20.0.10'), port: port(53), protocol: 'UDP' });
  const thief: Partial<ServicePort> = { clusterIP: ip('172.20.1.1'), port: port(53), protocol: 'UDP' };

  it('leaves a cluster address to the Service that it was given to, whoever else claims it, by whatever field', () => {
    for (const field of ['externalIPs', 'loadBalancerVIPs'] as const) {
      const evil = servicePort({
        name: 'default/evil',
        createdAt: '2020-01-01T00:00:00Z',
        ...thief,
        [field]: [dns.clusterIP],
      });
      const { reals, problems, sets } = served([evil, dns], 'UDP 172.20.0.10:53');
      expect(reals).to.deep.equal(['10.180.1.2:8080']);
      expect(problems.map(({ object, message }) => `${object}: ${message}`)).to.deep.equal([
        'Service default/evil:http/UDP: UDP 172.20.0.10:53 is also claimed by kube-system/dns:http/UDP, which is served',
      ]);
      expect([sets['KUBE-EXTERNAL-IP'], sets['KUBE-LOAD-BALANCER']]).to.deep.equal([[], []]);
    }
  });

  it('gives an outside address to the older Service, then to the one whose name comes first', () => {
    const claimant = (name: string, createdAt: string, last: number) =>
      servicePort({ name, createdAt, clusterIP: ip(`172.20.1.${last}`), externalIPs: [vip] });
    const key = 'TCP 203.0.113.1:80';
    const old = claimant('shop/z', '2025-01-01T00:00:00Z', 1);
    const young = claimant('shop/a', '2026-01-01T00:00:00Z', 2);
    const timeless = claimant('shop/0', '', 3);
    expect(served([old, young], key).reals).to.deep.equal(['10.180.1.1:8080']);
    expect(served([young, old], key).reals).to.deep.equal(['10.180.1.2:8080']);
    expect(served([timeless, young], key).reals).to.deep.equal(['10.180.1.2:8080']);
    expect(served([claimant('shop/b', '', 1), timeless], key).reals).to.deep.equal(['10.180.1.2:8080']);
  });

  it('takes nothing of a frontend from a Service that does not have it: no entry, no rule, no address', () => {
    const winner = servicePort({ name: 'shop/aa', clusterIP: ip('172.20.1.1'), loadBalancerVIPs: [vip] });
    const loser = servicePort({
      name: 'shop/zz',
      clusterIP: ip('172.20.1.2'),
      loadBalancerVIPs: [vip],
      externalPolicyLocal: true,
      loadBalancerSourceRanges: [cidr('9.0.0.0/8')],
    });
    const both = served([winner, loser], 'TCP 203.0.113.1:80');
    for (const set of ['LOAD-BALANCER-LOCAL', 'LOAD-BALANCER-FW', 'LOAD-BALANCER-SOURCE-CIDR', 'EXTERNAL-NO-LOCAL']) {
      expect(both.sets[`KUBE-${set}`], set).to.deep.equal([]);
    }
    expect(both.sets['KUBE-LOAD-BALANCER']).to.deep.equal(['203.0.113.1,tcp:80']);
    expect(both.kernel.tables.filter.chains.get('KUBE-IPVS-OUT-FILTER')).to.deep.equal([]);
  });

  it('serves a Service at its own cluster address by the internal policy, though it is its external address too', () => {
    const self = servicePort({ externalIPs: [ip('172.20.1.1')], externalPolicyLocal: true });
    const { reals, problems, sets } = served([self], 'TCP 172.20.1.1:80');
    expect(reals).to.deep.equal(['10.180.1.1:8080']);
    expect([sets['KUBE-EXTERNAL-IP-LOCAL'], sets['KUBE-EXTERNAL-NO-LOCAL']]).to.deep.equal([[], []]);
    expect(problems.map(({ message }) => message)).to.deep.equal([
      'TCP 172.20.1.1:80 is its cluster address too, and is served as that',
    ]);
  });

  it('counts all that a Service says of an address that is its external and its load-balancer one', () => {
    const twice = servicePort({
      externalIPs: [vip],
      loadBalancerVIPs: [vip],
      loadBalancerSourceRanges: [cidr('9.0.0.0/8')],
    });
    const { sets, problems } = served([twice], 'TCP 203.0.113.1:80');
    expect(problems).to.deep.equal([]);
    expect(sets['KUBE-EXTERNAL-IP']).to.deep.equal(['203.0.113.1,tcp:80']);
    expect(sets['KUBE-LOAD-BALANCER-FW']).to.deep.equal(['203.0.113.1,tcp:80']);
  });
});
