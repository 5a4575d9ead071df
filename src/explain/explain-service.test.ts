import { expect } from 'chai';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { nodeView, portSpec, service, settings, slice, slicePort } from '../../test/builders/objects.ts';
import type { EndpointSlice, SliceEndpoint } from '../model/endpoint-slice.ts';
import type { Service, UnselectedService } from '../model/service.ts';
import { FAMILIES } from '../net/family.ts';
import { computeOnce } from '../sync/compute-once.ts';
import { type Explanation, explainService, type PortExplanation } from './explain-service.ts';
import { parseTarget } from './target.ts';

describe('explain/explain-service', () => {
  const view = { ...nodeView({ addresses: [ip('192.168.0.10')] }), zone: 'zone-a' };

  function backend(last: number, given: Partial<SliceEndpoint> = {}): SliceEndpoint {
    return {
      address: ip(`10.180.0.${last}`),
      ready: true,
      serving: true,
      terminating: false,
      nodeName: 'node-b',
      zoneHints: [],
      nodeHints: [],
      ...given,
    };
  }

  function explained(
    of: Service,
    slices: readonly EndpointSlice[],
    {
      others = [],
      unselected = [],
      target = of.name as string,
    }: { others?: readonly Service[]; unselected?: readonly UnselectedService[]; target?: string } = {},
  ): Explanation {
    const families = computeOnce({ services: [of, ...others], slices }, view, FAMILIES, settings());
    const asked = parseTarget(target);
    if (!asked) throw new Error(`no target: ${target}`);
    const warnings = families.flatMap(({ problems }) => problems);
    const inputs = {
      slices,
      unselected,
      nodeName: view.name,
      families,
      behaviour: 'documented',
      warnings,
      comparisons: [],
    } as const;
    return explainService(of, asked, inputs);
  }

  /** The only service port that is explained. */
  function onlyPort(...given: Parameters<typeof explained>): PortExplanation {
    const [only, ...more] = explained(...given).ports;
    if (!only || more.length > 0) throw new Error('not one port');
    return only;
  }

  const reasons = ({ endpoints }: PortExplanation) =>
    endpoints.map(({ endpoint, cluster, local, passedOver }) => [endpoint, passedOver ?? local ?? cluster]);

  it('gives a reason for every endpoint of every slice', () => {
    const own = slice({
      endpoints: [
        backend(1, { zoneHints: ['zone-a'] }),
        backend(2, { zoneHints: ['zone-b'] }),
        backend(3, { ready: false, terminating: true }),
        backend(4, { ready: false, serving: false, terminating: true }),
        backend(5, { ready: false, serving: false }),
      ],
    });
    const twice = slice({ name: 'shop/cart-2', endpoints: [backend(1)] });
    const otherPort = slice({ name: 'shop/cart-3', ports: [slicePort({ name: 'web' })], endpoints: [backend(6)] });
    const otherFamily = slice({
      name: 'shop/cart-4',
      family: 'IPv6',
      endpoints: [backend(7, { address: ip('fd00::7') })],
    });
    const foreign = slice({ name: 'shop/other-1', service: 'shop/other', endpoints: [backend(8)] });
    const port = onlyPort(service(), [own, twice, otherPort, otherFamily, foreign]);
    expect(reasons(port)).to.deep.equal([
      ['10.180.0.1:8080', 'chosen'],
      ['10.180.0.2:8080', 'hinted for another zone, while others are for this one'],
      ['10.180.0.3:8080', 'terminating, while others are ready'],
      ['10.180.0.4:8080', 'terminating, and serves no more'],
      ['10.180.0.5:8080', 'not ready'],
      ['10.180.0.1:8080', 'a duplicate: the same address and port stands more than once, and counts once'],
      ['10.180.0.6', 'no such port: slice shop/cart-3 has web/TCP, not http/TCP'],
      ['fd00::7', 'of IPv6, and the Service has no IPv6 cluster address'],
    ]);
    expect(port.hints).to.equal('zone');
  });

  it('says that hints do not count where one is missing', () => {
    const slices = [slice({ endpoints: [backend(1, { zoneHints: ['zone-b'] }), backend(2)] })];
    const port = onlyPort(service(), slices);
    expect([port.hints, reasons(port)]).to.deep.equal([
      'ignored',
      [
        ['10.180.0.1:8080', 'chosen'],
        ['10.180.0.2:8080', 'chosen'],
      ],
    ]);
  });

  it('tells of the lists of both policies where a port has both', () => {
    const slices = [slice({ endpoints: [backend(1, { nodeName: view.name }), backend(2)] })];
    const of = service({
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [portSpec({ nodePort: port(30080) })],
    });
    const { endpoints, virtualServers } = onlyPort(of, slices);
    expect(endpoints.map(({ node, cluster, local }) => [node, cluster, local])).to.deep.equal([
      [view.name, 'chosen', 'chosen'],
      ['node-b', 'chosen', 'on another node, and the policy is Local'],
    ]);
    expect(virtualServers.map((each) => [each.from, each.policy, each.endpointsOf, each.realServers])).to.deep.equal([
      [
        'cluster',
        'Cluster',
        'cluster',
        [
          { endpoint: '10.180.0.1:8080', weight: 1 },
          { endpoint: '10.180.0.2:8080', weight: 1 },
        ],
      ],
      ['node-port', 'Local', 'local', [{ endpoint: '10.180.0.1:8080', weight: 1 }]],
    ]);
  });

  it('says when others stand in for local endpoints', () => {
    const of = service({
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [portSpec({ nodePort: port(30080) })],
    });
    const [, nodePort] = onlyPort(of, [slice({ endpoints: [backend(2)] })]).virtualServers;
    expect([nodePort?.policy, nodePort?.endpointsOf]).to.deep.equal(['Local', 'cluster']);
  });

  it('tells where each virtual server comes from, whether its address is bound, and which sets have it', () => {
    const of = service({
      type: 'LoadBalancer',
      ports: [portSpec({ nodePort: port(30080) })],
      externalIPs: [ip('203.0.113.7'), ip('192.168.0.10')],
      loadBalancerVIPs: [ip('203.0.113.9')],
      loadBalancerSourceRanges: [cidr('198.51.100.0/24')],
      affinitySeconds: 600,
    });
    const { virtualServers } = onlyPort(of, []);
    expect(virtualServers.map(({ virtualServer, field, bound }) => [virtualServer, field, bound])).to.deep.equal([
      ['TCP 172.20.1.1:80', 'spec.clusterIPs', true],
      ['TCP 203.0.113.7:80', 'spec.externalIPs', true],
      ['TCP 192.168.0.10:80', 'spec.externalIPs', false],
      ['TCP 203.0.113.9:80', 'status.loadBalancer.ingress', true],
      ['TCP 192.168.0.10:30080', 'spec.ports[].nodePort', false],
    ]);
    expect(virtualServers[3]?.sets.map(({ set }) => set)).to.deep.equal([
      'KUBE-LOAD-BALANCER',
      'KUBE-LOAD-BALANCER-FW',
      'KUBE-LOAD-BALANCER-SOURCE-CIDR',
      'KUBE-IPVS-IPS',
    ]);
    expect(new Set(virtualServers.map(({ persistenceSeconds }) => persistenceSeconds))).to.deep.equal(new Set([600]));
  });

  it('names the Service that has a frontend which two claim', () => {
    const externalIPs = [ip('203.0.113.7')];
    const older = service({ name: 'shop/a', addresses: ['172.20.1.2'], externalIPs, createdAt: '2020' });
    const of = service({ externalIPs, createdAt: '2024' });
    const { ports, warnings } = explained(of, [], { others: [older] });
    const [, external] = ports[0]?.virtualServers ?? [];
    expect([external?.owner, external?.packets]).to.deep.equal(['shop/a:http/TCP', []]);
    expect(warnings.map(({ message }) => message)).to.deep.equal([
      'TCP 203.0.113.7:80 is also claimed by shop/a:http/TCP, which is served',
    ]);
  });

  it('tells of the port or the address that somebody asks about alone', () => {
    const of = service({
      ports: [portSpec(), portSpec({ name: 'dns', protocol: 'UDP', port: port(53) })],
      externalIPs: [ip('203.0.113.7')],
    });
    const asked = (target: string) =>
      explained(of, [], { target }).ports.map((each) => [
        each.servicePort,
        each.virtualServers.map(({ virtualServer }) => virtualServer),
      ]);
    const dns = ['shop/cart:dns/UDP', ['UDP 172.20.1.1:53', 'UDP 203.0.113.7:53']];
    expect(asked('cart:dns')).to.deep.equal([dns]);
    expect(asked('cart:53')).to.deep.equal([dns]);
    expect(asked('cart:dns/TCP')).to.deep.equal([]);
    expect(asked('203.0.113.7:80')).to.deep.equal([['shop/cart:http/TCP', ['TCP 203.0.113.7:80']]]);
    expect(asked('203.0.113.7')).to.deep.equal([
      ['shop/cart:http/TCP', ['TCP 203.0.113.7:80']],
      ['shop/cart:dns/UDP', ['UDP 203.0.113.7:53']],
    ]);
  });

  it('says why nothing is served', () => {
    const why = (given: Parameters<typeof service>[0]) => explained(service(given), []).notServed;
    expect(why({})).to.deep.equal(['in IPv6, as it has no cluster address there']);
    expect(why({ type: 'ExternalName' })).to.deep.equal(['it is of type ExternalName, which is for DNS alone']);
    expect(why({ clusterIP: 'None' })).to.deep.equal(['it is headless: clients dial its endpoints themselves']);
    expect(why({ clusterIP: undefined })).to.deep.equal(['it has no cluster address yet']);
    expect(why({ ports: [] })).to.deep.equal(['it has no port that can be served']);
  });

  it('names the other proxy to which a label leaves a Service', () => {
    const own = service();
    expect(explained(own, [], { unselected: [{ service: own, otherProxy: 'kube-router' }] }).notServed).to.deep.equal([
      'its label service.kubernetes.io/service-proxy-name leaves it to another proxy, "kube-router"',
    ]);
  });

  it('warns of fields that have no effect', () => {
    const fields = (given: Parameters<typeof service>[0]) =>
      explained(service(given), []).warnings.map(({ field }) => field);
    expect(fields({})).to.deep.equal([]);
    expect(
      fields({
        externalTrafficPolicy: 'Local',
        loadBalancerSourceRanges: [cidr('198.51.100.0/24')],
        healthCheckNodePort: port(32000),
      }),
    ).to.deep.equal(['spec.externalTrafficPolicy', 'spec.loadBalancerSourceRanges', 'spec.healthCheckNodePort']);
    expect(
      fields({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: port(32000) }),
    ).to.deep.equal([]);
  });

  it('tells of the health check port', () => {
    const of = service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: port(32000) });
    const slices = [slice({ endpoints: [backend(1, { nodeName: view.name }), backend(2)] })];
    expect(explained(of, slices).healthChecks).to.deep.equal([{ family: 'IPv4', port: 32000, localEndpoints: 1 }]);
  });
});
