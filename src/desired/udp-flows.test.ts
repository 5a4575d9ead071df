import { expect } from 'chai';
import { DesiredSteps, type PortsWithEndpoints } from '../../test/builders/desired.ts';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort, type settings } from '../../test/builders/objects.ts';
import type { Endpoint } from '../model/endpoint.ts';

describe('desired/udp-flows', () => {
  const dns = servicePort({ protocol: 'UDP', port: port(53) });
  const first = endpoint({ address: ip('10.180.0.1'), port: port(5353) });
  const second = endpoint({ address: ip('10.180.0.2'), port: port(5353) });

  /** The flows to be looked at after the last of some steps, when all were cleared before it. */
  function targetsAfter(
    steps: readonly PortsWithEndpoints[],
    given: Parameters<typeof settings>[0] = {},
  ): Readonly<Record<string, readonly string[]>> {
    const desired = new DesiredSteps(given);
    for (const ports of steps.slice(0, -1)) desired.to(ports);
    desired.state.staleFlows.cleared();
    const { owners } = desired.to(steps.at(-1) ?? []);
    const targets = desired.state.staleFlows.targets(owners);
    return Object.fromEntries([...targets].map(([key, answerers]) => [key, [...answerers].sort()]));
  }

  it('names every frontend on this node, and no other address with the node port', () => {
    const port53 = {
      ...dns,
      externalIPs: [ip('203.0.113.1')],
      loadBalancerVIPs: [ip('203.0.113.2')],
      nodePort: port(30053),
    };
    const both = ['10.180.0.1:5353', '10.180.0.2:5353'];
    expect(targetsAfter([[[port53, [first, second]]]])).to.deep.equal({
      '172.20.1.1:53': both,
      '203.0.113.1:53': both,
      '203.0.113.2:53': both,
      '192.168.0.10:30053': both,
    });
  });

  it('lets nobody answer for a service port without endpoints', () => {
    expect(targetsAfter([[[dns, []]]])).to.deep.equal({ '172.20.1.1:53': [] });
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
      const answerers = targetsAfter([[[dns, [first, { ...second, ...given }]]]])['172.20.1.1:53'];
      expect(answerers?.includes('10.180.0.2:5353')).to.equal(mayAnswer);
    });
  }

  it('keeps flows to an endpoint that stands in the virtual server with weight 0', () => {
    const weights = { ready: 10, readyNotServing: 5, notReady: 0 };
    const broken = { ...second, ready: false, serving: false };
    expect(targetsAfter([[[dns, [first, broken]]]], { weights })).to.deep.equal({
      '172.20.1.1:53': ['10.180.0.1:5353', '10.180.0.2:5353'],
    });
  });

  it('keeps flows to endpoints elsewhere under policy Local', () => {
    const local = { ...dns, externalPolicyLocal: true, nodePort: port(30053) };
    const here = { ...first, local: true };
    expect(targetsAfter([[[local, [here, second]]]])['192.168.0.10:30053']).to.deep.equal([
      '10.180.0.1:5353',
      '10.180.0.2:5353',
    ]);
  });

  it('has nothing to do with TCP and SCTP', () => {
    const others: PortsWithEndpoints = (['TCP', 'SCTP'] as const).map((protocol) => [
      servicePort({ protocol }),
      [first],
    ]);
    expect(targetsAfter([others])).to.deep.equal({});
    expect(targetsAfter([others, []])).to.deep.equal({});
  });

  describe('compared with what was wanted before', () => {
    const ntp = servicePort({ name: 'shop/ntp', protocol: 'UDP', port: port(123), clusterIP: ip('172.20.1.2') });
    const one: readonly Endpoint[] = [first];
    const two: readonly Endpoint[] = [second];

    it('is empty when nothing changed', () => {
      const ports: PortsWithEndpoints = [[dns, one]];
      expect(targetsAfter([ports, ports])).to.deep.equal({});
    });

    it('is about the service ports alone whose facts or endpoints changed', () => {
      const before: PortsWithEndpoints = [
        [dns, one],
        [ntp, one],
      ];
      const moved: PortsWithEndpoints = [
        [dns, two],
        [ntp, one],
      ];
      const widened: PortsWithEndpoints = [
        [dns, one],
        [{ ...ntp, externalIPs: [ip('203.0.113.1')] }, one],
      ];
      expect(targetsAfter([before, moved])).to.deep.equal({ '172.20.1.1:53': ['10.180.0.2:5353'] });
      expect(targetsAfter([before, widened])).to.deep.equal({
        '172.20.1.2:123': ['10.180.0.1:5353'],
        '203.0.113.1:123': ['10.180.0.1:5353'],
      });
    });

    it('leaves a frontend that is not wanted any more to its own address', () => {
      const before: PortsWithEndpoints = [
        [{ ...dns, externalIPs: [ip('203.0.113.1')] }, one],
        [ntp, one],
      ];
      expect(targetsAfter([before, [[dns, one]]])).to.deep.equal({
        '172.20.1.1:53': ['10.180.0.1:5353'],
        '203.0.113.1:53': ['203.0.113.1:53'],
        '172.20.1.2:123': ['172.20.1.2:123'],
      });
    });

    it('follows a frontend to the service port that has it now', () => {
      const rival = servicePort({ name: 'shop/rival', protocol: 'UDP', port: port(53) });
      const both: PortsWithEndpoints = [
        [dns, one],
        [rival, two],
      ];
      expect(targetsAfter([both])).to.deep.equal({ '172.20.1.1:53': ['10.180.0.1:5353'] });
      expect(targetsAfter([both, [[rival, two]]])).to.deep.equal({ '172.20.1.1:53': ['10.180.0.2:5353'] });
    });

    it('still has what was not cleared', () => {
      const desired = new DesiredSteps();
      desired.to([[dns, one]]);
      const { owners } = desired.to([[dns, two]]);
      expect([...desired.state.staleFlows.targets(owners).keys()]).to.deep.equal(['172.20.1.1:53']);
      desired.state.staleFlows.cleared();
      expect(desired.state.staleFlows.targets(owners).size).to.equal(0);
    });
  });
});
