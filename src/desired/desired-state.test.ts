import { expect } from 'chai';
import fc from 'fast-check';
import { DesiredSteps, desiredFor, type PortsWithEndpoints, sortedText } from '../../test/builders/desired.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, nodeView, servicePort } from '../../test/builders/objects.ts';
import type { Endpoint } from '../model/endpoint.ts';

describe('desired/desired-state', () => {
  const http = servicePort();
  const https = servicePort({ portName: 'https', port: port(443) });
  const endpoints: readonly Endpoint[] = [endpoint()];
  const both: PortsWithEndpoints = [
    [http, endpoints],
    [https, endpoints],
  ];
  let desired: DesiredSteps;

  beforeEach(() => {
    desired = new DesiredSteps();
  });

  it('computes anew what has other facts or endpoints, and nothing else', () => {
    const before = new Map(desired.to(both).parts);
    const kept = (ports: PortsWithEndpoints) => {
      const { parts } = desired.to(ports);
      const same = [...parts].map(([key, part]) => part === before.get(key));
      for (const [key, part] of parts) before.set(key, part);
      return same;
    };
    expect(
      kept([
        [http, endpoints],
        [{ ...https, affinitySeconds: 60 }, endpoints],
      ]),
    ).to.deep.equal([true, false]);
    expect(
      kept([
        [http, [endpoint()]],
        [{ ...https, affinitySeconds: 60 }, endpoints],
      ]),
    ).to.deep.equal([false, false]);
  });

  it('takes a new look at the same node for the same node', () => {
    const { node, parts } = desired.to(both);
    const before = [...parts.values()];
    const after = desired.to(both, nodeView({ addresses: [ip('192.168.0.10')] }));
    expect(after.node).to.equal(node);
    expect([...after.parts.values()]).to.deep.equal(before);
  });

  const changes = {
    'has another address': nodeView({ interfaces: { eth0: ['192.168.0.11/24'] }, addresses: [ip('192.168.0.10')] }),
    'moves to another zone': nodeView({ zone: 'zone-b', addresses: [ip('192.168.0.10')] }),
  };
  for (const [name, view] of Object.entries(changes)) {
    it(`computes everything anew when the node ${name}`, () => {
      const before = new Map(desired.to(both).parts);
      const after = desired.to(both, view);
      expect([...after.parts].some(([key, part]) => part === before.get(key))).to.equal(false);
    });
  }

  it('computes anew what claims an address that another node gets or loses, and nothing else', () => {
    const outside = servicePort({ name: 'shop/vip', clusterIP: ip('172.20.1.9'), externalIPs: [ip('203.0.113.1')] });
    const ports: PortsWithEndpoints = [...both, [outside, endpoints]];
    const view = (others: readonly string[]) =>
      nodeView({ addresses: [ip('192.168.0.10')], otherNodeAddresses: new Set(others.map(ip)) });
    const before = new Map(desired.to(ports, view([])).parts);
    const { parts, kernel } = desired.to(ports, view(['203.0.113.1', '192.168.0.77']));
    expect([...parts].map(([key, part]) => part === before.get(key))).to.deep.equal([true, true, false]);
    expect(kernel.dummy.addresses.has(ip('203.0.113.1'))).to.equal(false);
    expect(desired.to(ports, view([])).kernel.dummy.addresses.has(ip('203.0.113.1'))).to.equal(true);
  });

  it('forgets what has gone', () => {
    desired.to(both);
    const after = desired.to([[https, endpoints]]);
    expect([...after.parts.keys()]).to.deep.equal([https.key]);
    expect([...after.kernel.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:443']);
  });

  it('names what a change touches, until the kernel is as wanted', () => {
    desired.to(both);
    desired.state.settled();
    const { touched } = desired.state;
    desired.to([
      [http, endpoints],
      [https, [endpoint({ address: ip('10.180.1.9') })]],
    ]);
    expect([[...touched.servers], [...touched.addresses], [...touched.entries], touched.rules]).to.deep.equal([
      ['TCP 172.20.1.1:443'],
      [],
      [],
      false,
    ]);
    const outside: PortsWithEndpoints = [[{ ...http, externalIPs: [ip('203.0.113.1')] }, endpoints]];
    desired.to(outside);
    expect([
      [...touched.servers].sort(),
      [...touched.addresses],
      [...touched.entries].sort(),
      touched.rules,
    ]).to.deep.equal([
      ['TCP 172.20.1.1:443', 'TCP 172.20.1.1:80', 'TCP 203.0.113.1:80'],
      ['203.0.113.1'],
      ['172.20.1.1,tcp:443', '203.0.113.1', '203.0.113.1,tcp:80'],
      true,
    ]);
    desired.state.settled();
    desired.to(outside);
    expect([touched.servers.size, touched.entries.size, touched.rules]).to.deep.equal([0, 0, false]);
  });

  it('takes rules for others only where a frontend closed to the node comes or goes, or its address, not with its endpoints', () => {
    const balanced = (name: string, last: number) =>
      servicePort({
        name,
        clusterIP: ip(`172.20.2.${last}`),
        loadBalancerVIPs: [ip(`198.51.100.${last}`)],
        loadBalancerSourceRanges: [cidr('10.0.0.0/8')],
      });
    const [one, two] = [balanced('shop/one', 1), balanced('shop/two', 2)];
    const { rules, kernel } = desired.to([
      [two, endpoints],
      [one, endpoints],
    ]);
    expect(rules.closedToNode).to.deep.equal(
      ['198.51.100.1', '198.51.100.2'].map((address) => ({ address, protocol: 'TCP', port: 80 })),
    );
    desired.state.settled();
    const { touched } = desired.state;
    const fewer = desired.to([
      [two, []],
      [one, endpoints],
    ]);
    expect([fewer.rules === rules, fewer.kernel.tables === kernel.tables, touched.rules]).to.deep.equal([
      true,
      true,
      false,
    ]);
    const ownView = nodeView({
      interfaces: { eth0: ['192.168.0.10/24', '198.51.100.2/24'] },
      addresses: [ip('192.168.0.10')],
    });
    const ports: PortsWithEndpoints = [
      [two, []],
      [one, endpoints],
    ];
    desired.to(ports, ownView);
    desired.state.settled();
    desired.to(ports);
    expect([[...touched.addresses], touched.rules]).to.deep.equal([['198.51.100.2'], true]);
    desired.to([[one, endpoints]]);
    expect(desired.to([[one, endpoints]]).rules.closedToNode.map(({ address }) => address)).to.deep.equal([
      '198.51.100.1',
    ]);
  });

  it('comes to the same whatever the way, and has touched all that differs on it', () => {
    const pool = ['shop/a', 'shop/b', 'shop/c', 'bank/a'].flatMap((name, index) =>
      [0, 1].map((variant) =>
        servicePort({
          name,
          protocol: index === 3 ? 'UDP' : 'TCP',
          clusterIP: ip(`172.20.1.${index + 1}`),
          externalIPs: [ip('203.0.113.1')],
          loadBalancerVIPs: variant === 1 ? [ip(`203.0.113.${(index % 2) + 8}`)] : [],
          loadBalancerSourceRanges: variant === 1 ? [cidr('198.51.100.0/24')] : [],
          nodePort: port(30080 + (index % 2)),
          externalPolicyLocal: index === 1,
          healthCheckNodePort: index === 1 ? port(32000) : undefined,
        }),
      ),
    );
    const lists = [1, 2].map((last) => [endpoint({ address: ip(`10.180.1.${last}`), local: last === 1 })]);
    const step = fc
      .shuffledSubarray(pool)
      .chain((ports) =>
        fc.tuple(...ports.map((each) => fc.constantFrom(...lists).map((list) => [each, list] as const))),
      )
      .map((ports) => [...new Map(ports.map((each) => [each[0].key, each])).values()]);
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 5 }), (steps) => {
        const way = new DesiredSteps();
        for (const ports of steps) {
          const before = new Map(way.state.update(NOTHING_NEW, VIEW).kernel.ipvs);
          way.state.settled();
          const now = way.to(ports, VIEW);
          expect(sortedText(now)).to.equal(sortedText(desiredFor(ports)));
          const differing = [...new Set([...before.keys(), ...now.kernel.ipvs.keys()])].filter(
            (key) => before.get(key) !== now.kernel.ipvs.get(key),
          );
          expect(differing.filter((key) => !way.state.touched.servers.has(key))).to.deep.equal([]);
        }
      }),
    );
  });
});

const VIEW = nodeView({ addresses: [ip('192.168.0.10')] });
const NOTHING_NEW = {
  family: 'IPv4' as const,
  ports: new Map<never, never>(),
  endpoints: new Map<never, never>(),
  changed: new Set<never>(),
  changedPorts: new Set<never>(),
};
