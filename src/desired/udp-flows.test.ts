import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, nodeView, servicePort, settings } from '../../test/builders/objects.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { ServicePort } from '../model/service-port.ts';
import { computeDesired, type Desired } from './compute-desired.ts';
import { udpFlowTargets } from './udp-flows.ts';

describe('desired/udp-flows', () => {
  const dns = servicePort({ protocol: 'UDP', port: port(53) });
  const first = endpoint({ address: ip('10.180.0.1'), port: port(5353) });
  const second = endpoint({ address: ip('10.180.0.2'), port: port(5353) });

  type Ports = readonly (readonly [ServicePort, readonly Endpoint[]])[];

  /** What is wanted on a node with address 192.168.0.10. */
  function desired(ports: Ports, previous?: Desired, given: Parameters<typeof settings>[0] = {}): Desired {
    const tracked = {
      family: 'IPv4' as const,
      ports: new Map(ports.map(([each]) => [each.key, each])),
      endpoints: new Map(ports.map(([each, endpoints]) => [each.key, endpoints])),
      changed: new Set<never>(),
    };
    return computeDesired(tracked, nodeView({ addresses: [ip('192.168.0.10')] }), settings(given), previous);
  }

  function targets(previous: Desired | undefined, now: Desired): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(
      [...udpFlowTargets(previous, now)].map(([key, answerers]) => [key, [...answerers].sort()]),
    );
  }

  it('names every frontend on this node, and no other address with the node port', () => {
    const port53 = {
      ...dns,
      externalIPs: [ip('203.0.113.1')],
      loadBalancerVIPs: [ip('203.0.113.2')],
      nodePort: port(30053),
    };
    const both = ['10.180.0.1:5353', '10.180.0.2:5353'];
    expect(targets(undefined, desired([[port53, [first, second]]]))).to.deep.equal({
      '172.20.1.1:53': both,
      '203.0.113.1:53': both,
      '203.0.113.2:53': both,
      '192.168.0.10:30053': both,
    });
  });

  it('lets nobody answer for a service port without endpoints', () => {
    expect(targets(undefined, desired([[dns, []]]))).to.deep.equal({ '172.20.1.1:53': [] });
  });

  const conditions: readonly (readonly [name: string, given: Partial<Endpoint>, mayAnswer: boolean])[] = [
    ['serves and is ready', {}, true],
    ['serves while it terminates', { ready: false, terminating: true }, true],
    ['serves without being ready', { ready: false }, true],
    ['is ready by publishNotReadyAddresses only', { serving: false }, true],
    ['neither serves nor is ready', { ready: false, serving: false }, false],
    ['has ended to serve while it terminates', { ready: false, serving: false, terminating: true }, false],
    ['is meant for another zone', { zoneHints: ['zone-b'] }, true],
  ];
  for (const [name, given, mayAnswer] of conditions) {
    it(`${mayAnswer ? 'keeps' : 'ends'} flows to an endpoint that ${name}`, () => {
      const answerers = targets(undefined, desired([[dns, [first, { ...second, ...given }]]]))['172.20.1.1:53'];
      expect(answerers?.includes('10.180.0.2:5353')).to.equal(mayAnswer);
    });
  }

  it('keeps flows to an endpoint that stands in the virtual server with weight 0', () => {
    const weights = { ready: 10, readyNotServing: 5, notReady: 0 };
    const broken = { ...second, ready: false, serving: false };
    expect(targets(undefined, desired([[dns, [first, broken]]], undefined, { weights }))).to.deep.equal({
      '172.20.1.1:53': ['10.180.0.1:5353', '10.180.0.2:5353'],
    });
  });

  it('keeps flows to endpoints elsewhere under policy Local', () => {
    const local = { ...dns, externalPolicyLocal: true, nodePort: port(30053) };
    const here = { ...first, local: true };
    expect(targets(undefined, desired([[local, [here, second]]]))['192.168.0.10:30053']).to.deep.equal([
      '10.180.0.1:5353',
      '10.180.0.2:5353',
    ]);
  });

  it('has nothing to do with TCP and SCTP', () => {
    const others: Ports = (['TCP', 'SCTP'] as const).map((protocol) => [servicePort({ protocol }), [first]]);
    expect(targets(undefined, desired(others))).to.deep.equal({});
    expect(targets(desired(others), desired([]))).to.deep.equal({});
  });

  describe('compared with what was wanted before', () => {
    const ntp = servicePort({ name: 'shop/ntp', protocol: 'UDP', port: port(123), clusterIP: ip('172.20.1.2') });
    const one: readonly Endpoint[] = [first];
    const two: readonly Endpoint[] = [second];

    it('is empty when nothing changed', () => {
      const before = desired([[dns, one]]);
      expect(targets(before, desired([[dns, one]], before))).to.deep.equal({});
    });

    it('is about the service ports alone whose facts or endpoints changed', () => {
      const before = desired([
        [dns, one],
        [ntp, one],
      ]);
      const now = (ports: Ports) => targets(before, desired(ports, before));
      expect(
        now([
          [dns, two],
          [ntp, one],
        ]),
      ).to.deep.equal({ '172.20.1.1:53': ['10.180.0.2:5353'] });
      expect(
        now([
          [dns, one],
          [{ ...ntp, externalIPs: [ip('203.0.113.1')] }, one],
        ]),
      ).to.deep.equal({ '172.20.1.2:123': ['10.180.0.1:5353'], '203.0.113.1:123': ['10.180.0.1:5353'] });
    });

    it('leaves a frontend that is not wanted any more to its own address', () => {
      const before = desired([
        [{ ...dns, externalIPs: [ip('203.0.113.1')] }, one],
        [ntp, one],
      ]);
      expect(targets(before, desired([[dns, one]], before))).to.deep.equal({
        '172.20.1.1:53': ['10.180.0.1:5353'],
        '203.0.113.1:53': ['203.0.113.1:53'],
        '172.20.1.2:123': ['172.20.1.2:123'],
      });
    });

    it('follows a frontend to the service port that has it now', () => {
      const rival = servicePort({ name: 'shop/rival', protocol: 'UDP', port: port(53) });
      const both = desired([
        [dns, one],
        [rival, two],
      ]);
      expect(targets(undefined, both)).to.deep.equal({ '172.20.1.1:53': ['10.180.0.1:5353'] });
      expect(targets(both, desired([[rival, two]], both))).to.deep.equal({ '172.20.1.1:53': ['10.180.0.2:5353'] });
    });
  });
});
