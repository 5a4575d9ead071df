import { expect } from 'chai';
import { parse } from 'yaml';
import { ip } from '../../test/builders/net.ts';
import { nodeView, service, settings, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { explainService } from '../explain/explain-service.ts';
import { parseTarget } from '../explain/target.ts';
import { computeOnce } from '../sync/compute-once.ts';
import { type Explained, formatExplanation } from './explanation-output.ts';

describe('cli/explanation-output', () => {
  function explained(endpoints: readonly ReturnType<typeof sliceEndpoint>[]): Explained {
    const cart = service({ affinitySeconds: 600 });
    const slices = [slice({ endpoints })];
    const view = nodeView({ addresses: [ip('192.168.0.10')] });
    const families = computeOnce({ services: [cart], slices }, view, ['IPv4'], settings());
    const target = parseTarget('cart');
    if (!target) throw new Error('no target');
    const inputs = {
      slices,
      unselected: [],
      nodeName: 'node-a',
      families,
      behaviour: 'documented',
      warnings: [],
      comparisons: [],
    } as const;
    return { node: 'node-a', schedulerFrom: 'the default', services: [explainService(cart, target, inputs)] };
  }

  it('tells a person everything, from the Service to its endpoints', () => {
    const waiting = sliceEndpoint('10.180.0.2', { nodeName: 'node-b', ready: false, serving: false });
    const text = formatExplanation(explained([sliceEndpoint('10.180.0.1', { nodeName: 'node-a' }), waiting]), 'text');
    expect(text).to.equal(
      `Service shop/cart on node node-a
  type ClusterIP, internalTrafficPolicy Cluster, externalTrafficPolicy Cluster, session affinity ClientIP, 600 s

  shop/cart:http/TCP, IPv4
    TCP 172.20.1.1:80, cluster address (spec.clusterIPs)
      policy Cluster
      scheduler rr (the default), persistence 600 s
      address bound on kube-ipvs0
      real servers: 10.180.0.1:8080 weight 1
      in set KUBE-CLUSTER-IP: 172.20.1.1,tcp:80
      in set KUBE-IPVS-IPS: 172.20.1.1
      from a Pod of this node (10.180.0.1): not masqueraded: the endpoint sees the client
        nat KUBE-SERVICES, in KUBE-CLUSTER-IP → ACCEPT
        filter KUBE-IPVS-FILTER, in KUBE-CLUSTER-IP → RETURN
      from a Pod of another node (10.180.0.2): not masqueraded: the endpoint sees the client
        nat KUBE-SERVICES, in KUBE-CLUSTER-IP → ACCEPT
        filter KUBE-IPVS-FILTER, in KUBE-CLUSTER-IP → RETURN
      from a client outside (192.0.2.1): not masqueraded: the endpoint sees the client
        nat KUBE-SERVICES, in KUBE-CLUSTER-IP → ACCEPT
        filter KUBE-IPVS-FILTER, in KUBE-CLUSTER-IP → RETURN
      from this node (172.20.1.1): masqueraded: the endpoint sees the node
        nat KUBE-SERVICES, in KUBE-CLUSTER-IP → KUBE-MARK-MASQ
        nat KUBE-SERVICES, in KUBE-CLUSTER-IP → ACCEPT
        nat KUBE-POSTROUTING → MASQUERADE
    Endpoints
      + 10.180.0.1:8080 on node-a (ready, serving, local): chosen
      - 10.180.0.2:8080 on node-b (no condition holds): left out: not ready
`,
    );
  });

  it('says that connections are refused where there is no endpoint', () => {
    const text = formatExplanation(explained([]), 'text');
    expect(text).to.include('      real servers: none, so the kernel refuses connections (ICMP port unreachable)\n');
    expect(text).to.include('      from this node (172.20.1.1): refused: there is no endpoint\n');
    expect(text).to.match(/ {4}Endpoints: none\n$/);
  });

  it('gives the same as records', () => {
    const all = explained([sliceEndpoint('10.180.0.1')]);
    const json = JSON.parse(formatExplanation(all, 'json')) as Explained;
    expect(parse(formatExplanation(all, 'yaml'))).to.deep.equal(json);
    expect(json.services[0]?.ports[0]?.virtualServers[0]?.realServers).to.deep.equal([
      { endpoint: '10.180.0.1:8080', weight: 1 },
    ]);
  });
});
