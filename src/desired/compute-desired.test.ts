import { expect } from 'chai';
import fc from 'fast-check';
import { sortedText } from '../../test/builders/desired.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, nodeView, servicePort, settings } from '../../test/builders/objects.ts';
import { realServerKey } from '../kernel/ipvs/state.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { ServicePort } from '../model/service-port.ts';
import { computeDesired } from './compute-desired.ts';

describe('desired/compute-desired', () => {
  const node = nodeView({ addresses: [ip('192.168.0.10')] });

  function tracked(
    ports: readonly ServicePort[],
    endpoints: readonly (readonly [ServicePort, readonly Endpoint[]])[] = [],
  ): Parameters<typeof computeDesired>[0] {
    return {
      family: 'IPv4',
      ports: new Map(ports.map((each) => [each.key, each])),
      endpoints: new Map(endpoints.map(([of, list]) => [of.key, list])),
    };
  }

  const compute = (given: Parameters<typeof computeDesired>[0]) => computeDesired(given, node, settings());

  it('wants the sets, rules and interface also where there is no Service', () => {
    const { kernel, healthChecks, problems } = compute(tracked([]));
    expect([kernel.ipvs.size, kernel.sets.size, kernel.dummy.exists, kernel.dummy.addresses.size]).to.deep.equal([
      0,
      20,
      true,
      0,
    ]);
    expect([...kernel.sets.values()].flatMap(({ entries }) => [...entries])).to.deep.equal([]);
    expect([...kernel.tables.nat.chains.keys(), ...kernel.tables.filter.chains.keys()]).to.have.lengthOf(12);
    expect(kernel.tables.nat.chains.get('KUBE-SERVICES')).to.have.lengthOf(2);
    expect([healthChecks, problems]).to.deep.equal([[], []]);
  });

  it('joins what every service port adds', () => {
    const http = servicePort({ nodePort: port(30080) });
    const dns = servicePort({
      name: 'kube-system/dns',
      portName: 'dns',
      clusterIP: ip('172.20.0.10'),
      port: port(53),
      protocol: 'UDP',
    });
    const { kernel } = compute(
      tracked(
        [http, dns],
        [
          [http, [endpoint()]],
          [dns, [endpoint({ local: true, port: port(5353) })]],
        ],
      ),
    );
    expect([...kernel.ipvs.keys()]).to.deep.equal([
      'TCP 172.20.1.1:80',
      'TCP 192.168.0.10:30080',
      'UDP 172.20.0.10:53',
    ]);
    expect([...kernel.dummy.addresses]).to.deep.equal(['172.20.1.1', '172.20.0.10']);
    const entries = Object.fromEntries(
      [...kernel.sets.values()]
        .filter(({ entries: { size } }) => size > 0)
        .map(({ name, entries: own }) => [name, [...own]]),
    );
    expect(entries).to.deep.equal({
      'KUBE-LOOP-BACK': ['10.180.1.1,udp:5353,10.180.1.1'],
      'KUBE-CLUSTER-IP': ['172.20.1.1,tcp:80', '172.20.0.10,udp:53'],
      'KUBE-NODE-PORT-TCP': ['30080'],
      'KUBE-IPVS-IPS': ['172.20.1.1', '172.20.0.10'],
      'KUBE-NODE-PORT-IP': ['192.168.0.10'],
    });
  });

  it('guards every bound address and no other', () => {
    const shared = servicePort({ externalIPs: ['192.168.0.10', '203.0.113.1'].map(ip) });
    const { kernel } = compute(tracked([shared]));
    expect([...kernel.dummy.addresses]).to.deep.equal(['172.20.1.1', '203.0.113.1']);
    expect([...(kernel.sets.get('KUBE-IPVS-IPS')?.entries ?? [])]).to.deep.equal(['172.20.1.1', '203.0.113.1']);
  });

  it('sorts the rules that close addresses to the node', () => {
    const guarded = (name: string, vip: string) =>
      servicePort({
        name,
        clusterIP: ip(vip.replace('203', '10')),
        loadBalancerVIPs: [ip(vip)],
        loadBalancerSourceRanges: [cidr('198.51.100.0/24')],
      });
    const rules = (ports: readonly ServicePort[]) =>
      compute(tracked(ports)).kernel.tables.filter.chains.get('KUBE-IPVS-OUT-FILTER');
    const [a, b] = [guarded('shop/z', '203.0.113.1'), guarded('shop/a', '203.0.113.2')];
    expect(rules([b, a])).to.deep.equal([
      '-s 203.0.113.1/32 -m ipvs --vproto 6 --vaddr 203.0.113.1 --vport 80 -j DROP',
      '-s 203.0.113.2/32 -m ipvs --vproto 6 --vaddr 203.0.113.2 --vport 80 -j DROP',
    ]);
    expect(rules([a, b])).to.deep.equal(rules([b, a]));
  });

  describe('two service ports with the same frontend', () => {
    const vip = [ip('203.0.113.1')];
    const claimant = (name: string, last: number) =>
      servicePort({ name, clusterIP: ip(`172.20.1.${last}`), externalIPs: vip });
    const [a, b, c] = [claimant('shop/a', 1), claimant('shop/b', 2), claimant('shop/c', 3)];
    const lists = [a, b, c].map((each, index) => [each, [endpoint({ address: ip(`10.180.1.${index + 1}`) })]] as const);

    for (const order of [
      [a, b],
      [b, a],
    ]) {
      it(`gives it to the first by name and names both, ${order.map(({ service }) => service).join(' before ')}`, () => {
        const { kernel, problems } = compute(tracked(order, lists));
        const [server] = [...kernel.ipvs.values()].filter(({ address }) => address === vip[0]);
        expect(server?.realServers.map(realServerKey)).to.deep.equal(['10.180.1.1:8080']);
        expect(problems).to.deep.equal([
          {
            object: 'Service shop/b:http/TCP',
            service: 'shop/b',
            field: '',
            message: 'TCP 203.0.113.1:80 is also claimed by shop/a:http/TCP, which is served',
          },
        ]);
        expect([...kernel.dummy.addresses].sort()).to.deep.equal(['172.20.1.1', '172.20.1.2', '203.0.113.1']);
      });
    }

    it('names the one that is served to each of the others, whatever the order', () => {
      const messages = fc
        .shuffledSubarray([a, b, c], { minLength: 3 })
        .map((order) => compute(tracked(order, lists)).problems);
      fc.assert(
        fc.property(messages, (problems) => {
          expect(
            problems.map(({ object, message }) => `${object}: ${message.split(' ').slice(-4).join(' ')}`),
          ).to.deep.equal([
            'Service shop/b:http/TCP: shop/a:http/TCP, which is served',
            'Service shop/c:http/TCP: shop/a:http/TCP, which is served',
          ]);
        }),
      );
    });

    it('sees no clash where one service port has an address twice', () => {
      const twice = servicePort({ externalIPs: vip, loadBalancerVIPs: vip });
      expect(compute(tracked([twice])).problems).to.deep.equal([]);
    });

    it('sees no clash between protocols', () => {
      const udp = servicePort({ name: 'shop/b', protocol: 'UDP', clusterIP: ip('172.20.1.2'), externalIPs: vip });
      expect(compute(tracked([a, udp])).problems).to.deep.equal([]);
    });
  });

  it('does not depend on the order in which service ports come', () => {
    const pool = ['shop/a', 'shop/b', 'shop/c', 'bank/a'].flatMap((name, index) => [
      servicePort({
        name,
        clusterIP: ip(`172.20.1.${index + 1}`),
        externalIPs: [ip('203.0.113.1')],
        nodePort: port(30080 + (index % 2)),
        externalPolicyLocal: index === 1,
        healthCheckNodePort: index === 1 ? port(32000) : undefined,
      }),
      servicePort({
        name,
        portName: 'vip',
        port: port(443),
        clusterIP: ip(`172.20.1.${index + 1}`),
        loadBalancerVIPs: [ip(`203.0.113.${(index % 2) + 8}`)],
        loadBalancerSourceRanges: [cidr('198.51.100.0/24')],
      }),
    ]);
    const lists = pool.map(
      (each, index) => [each, [endpoint({ address: ip(`10.180.1.${index + 1}`), local: index % 3 === 0 })]] as const,
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(pool), (subset) => {
        const wanted = sortedText(compute(tracked([...subset].sort(byKey), lists)));
        expect(sortedText(compute(tracked(subset, lists)))).to.equal(wanted);
      }),
    );
  });
});

function byKey(a: ServicePort, b: ServicePort): number {
  return a.key < b.key ? -1 : 1;
}
