import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { FrontPart } from '../desired/service-part.ts';
import type { ProxySettings } from '../desired/settings.ts';
import type { ServicePort } from '../model/service-port.ts';
import { clientsOf } from './client.ts';
import { followPacket } from './packet.ts';

const PODS: Partial<ProxySettings> = { detectLocal: { kind: 'cluster-cidr', cidrs: [cidr('10.180.0.0/16')] } };

describe('explain/packet', () => {
  /** What becomes of a packet from each client, `masqueraded` where it is answered that way. */
  function outcomes(
    kind: FrontPart['kind'],
    given: Partial<ServicePort>,
    endpoints = [endpoint({ local: true, address: ip('10.180.0.9') }), endpoint()],
    settings = PODS,
  ): Readonly<Record<string, string>> {
    const asked = servicePort(given);
    const desired = desiredFor([[asked, endpoints]], settings);
    const front = desired.parts.get(asked.key)?.fronts.find((each) => each.kind === kind);
    if (!front) throw new Error(`no ${kind}`);
    const state = { rules: desired.rules, sets: desired.kernel.sets };
    const sourceRanges = asked.loadBalancerSourceRanges;
    const clients = clientsOf(front.server.address, { rules: desired.rules, endpoints, sourceRanges });
    return Object.fromEntries(
      clients.map((client) => {
        const { outcome, masqueraded } = followPacket(client, front.server, state);
        return [client.who, masqueraded ? 'masqueraded' : outcome];
      }),
    );
  }

  const [own, other, outside, node] = ['a Pod of this node', 'a Pod of another node', 'a client outside', 'this node'];

  it('masquerades at a cluster address what comes from no Pod', () =>
    expect(outcomes('cluster', {})).to.deep.equal({
      [own]: 'answered',
      [other]: 'answered',
      [outside]: 'masqueraded',
      [node]: 'masqueraded',
    }));

  it('masquerades everything at a cluster address where that is asked for', () =>
    expect(new Set(Object.values(outcomes('cluster', {}, undefined, { ...PODS, masqueradeAll: true })))).to.deep.equal(
      new Set(['masqueraded']),
    ));

  it('masquerades everything at a node port, and only the node itself under policy Local', () => {
    expect(new Set(Object.values(outcomes('node-port', { nodePort: port(30080) })))).to.deep.equal(
      new Set(['masqueraded']),
    );
    expect(outcomes('node-port', { nodePort: port(30080), externalPolicyLocal: true })).to.deep.equal({
      [own]: 'answered',
      [other]: 'answered',
      [outside]: 'answered',
      [node]: 'masqueraded',
    });
  });

  it('drops at a load-balancer address who is outside the source ranges', () => {
    const given = { loadBalancerVIPs: [ip('203.0.113.9')], loadBalancerSourceRanges: [cidr('198.51.100.0/24')] };
    expect(outcomes('load-balancer', given)).to.deep.equal({
      [own]: 'dropped',
      [other]: 'dropped',
      [outside]: 'dropped',
      'a client outside, inside the source ranges': 'masqueraded',
      [node]: 'dropped',
    });
  });

  it('drops clients outside where policy Local finds no endpoint, and serves Pods and the node', () =>
    expect(
      outcomes('external', { externalIPs: [ip('203.0.113.7')], externalPolicyLocal: true }, [endpoint()]),
    ).to.deep.equal({ [other]: 'masqueraded', [outside]: 'dropped', [node]: 'masqueraded' }));

  it('drops at a cluster address whose policy Local finds no endpoint, but the node, which the kernel refuses', () =>
    expect(outcomes('cluster', { internalPolicyLocal: true }, [endpoint()])).to.deep.equal({
      [other]: 'dropped',
      [outside]: 'dropped',
      [node]: 'refused',
    }));

  it('has the kernel refuse where there is no endpoint at all', () =>
    expect(new Set(Object.values(outcomes('cluster', {}, [])))).to.deep.equal(new Set(['refused'])));

  it('tells the rules on the way, without chains that do nothing', () => {
    const asked = servicePort();
    const desired = desiredFor([[asked, [endpoint()]]], PODS);
    const front = desired.parts.get(asked.key)?.fronts[0];
    if (!front) throw new Error('no frontend');
    const client = { who: 'a client outside', source: ip('192.0.2.1'), isOwnPod: false, isNode: false } as const;
    const { met } = followPacket(client, front.server, { rules: desired.rules, sets: desired.kernel.sets });
    expect(met.map(({ table, chain, set, target }) => [table, chain, set, target])).to.deep.equal([
      ['nat', 'KUBE-SERVICES', 'KUBE-CLUSTER-IP', 'KUBE-MARK-MASQ'],
      ['nat', 'KUBE-SERVICES', 'KUBE-CLUSTER-IP', 'ACCEPT'],
      ['filter', 'KUBE-IPVS-FILTER', 'KUBE-CLUSTER-IP', 'RETURN'],
      ['nat', 'KUBE-POSTROUTING', undefined, 'MASQUERADE'],
    ]);
  });
});
