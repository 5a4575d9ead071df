import { expect } from 'chai';
import { Allocator } from './allocator.ts';
import { type ApiObject, type JsonRecord, recordOf } from './api-object.ts';
import { completeService } from './service-defaults.ts';

describe('test/apiserver/service-defaults', () => {
  const service = (spec: JsonRecord): ApiObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'cart', namespace: 'shop' },
    spec,
  });
  const complete = (spec: JsonRecord, previous?: JsonRecord) =>
    recordOf(completeService(service(spec), previous && service(previous), new Allocator()).spec);

  it('makes a short ClusterIP Service complete', () => {
    expect(complete({ selector: { app: 'cart' }, ports: [{ port: 80 }] })).to.deep.equal({
      selector: { app: 'cart' },
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      clusterIP: '10.96.1.1',
      clusterIPs: ['10.96.1.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    });
  });

  it('leaves given values alone', () => {
    const given = {
      type: 'NodePort',
      clusterIP: '172.20.1.1',
      clusterIPs: ['172.20.1.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ port: 80, protocol: 'SCTP', targetPort: 'http', nodePort: 31000 }],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      internalTrafficPolicy: 'Local',
      externalTrafficPolicy: 'Local',
    };
    expect(complete(given)).to.deep.equal(given);
  });

  it('allocates addresses of both families for dual-stack, in the order asked for', () => {
    const both = complete({ ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] });
    expect(both).to.deep.include({ clusterIPs: ['10.96.1.1', 'fd00:96::101'], ipFamilies: ['IPv4', 'IPv6'] });
    const ipv6First = complete({ ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6'], ports: [{ port: 80 }] });
    expect(ipv6First).to.deep.include({ clusterIP: 'fd00:96::101', ipFamilies: ['IPv6', 'IPv4'] });
  });

  it('reads the families from given addresses', () => {
    expect(complete({ clusterIP: 'fd00::1', ports: [{ port: 80 }] })).to.deep.include({
      clusterIPs: ['fd00::1'],
      ipFamilies: ['IPv6'],
      ipFamilyPolicy: 'SingleStack',
    });
  });

  it('keeps a headless Service headless and an ExternalName without addresses', () => {
    expect(complete({ clusterIP: 'None' })).to.deep.include({ clusterIP: 'None', clusterIPs: ['None'] });
    expect(complete({ type: 'ExternalName', externalName: 'a.example' })).to.deep.equal({
      type: 'ExternalName',
      externalName: 'a.example',
      sessionAffinity: 'None',
    });
  });

  it('gives load balancers node ports, a traffic policy and a health check port', () => {
    const balancer = complete({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 80 }, { port: 81 }],
    });
    expect(balancer).to.deep.include({ healthCheckNodePort: 30002, allocateLoadBalancerNodePorts: true });
    expect(balancer).to.have.nested.property('ports[1].nodePort', 30001);
    const bare = complete({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] });
    expect(bare).to.not.have.nested.property('ports[0].nodePort');
  });

  it('gives ClientIP affinity its timeout of three hours', () => {
    expect(complete({ sessionAffinity: 'ClientIP' })).to.have.nested.property(
      'sessionAffinityConfig.clientIP.timeoutSeconds',
      10800,
    );
  });

  it('keeps what was allocated before across updates that leave it out', () => {
    const before = complete({ type: 'NodePort', clusterIP: '10.96.7.7', ports: [{ port: 80, nodePort: 31234 }] });
    const after = complete({ type: 'NodePort', ports: [{ port: 80, targetPort: 8080 }] }, before);
    expect(after).to.deep.include({ clusterIP: '10.96.7.7', clusterIPs: ['10.96.7.7'] });
    expect(after).to.have.nested.property('ports[0].nodePort', 31234);
  });

  it('drops node ports and traffic policy when a Service becomes ClusterIP', () => {
    const before = complete({ type: 'NodePort', ports: [{ port: 80 }] });
    const after = complete({ ...before, type: 'ClusterIP' }, before);
    expect(after).to.not.have.property('externalTrafficPolicy');
    expect(after).to.not.have.nested.property('ports[0].nodePort');
  });

  it('never gives out what is in use', () => {
    const allocator = new Allocator();
    const first = completeService(
      service({ clusterIP: '10.96.1.1', type: 'NodePort', ports: [{ port: 1, nodePort: 30000 }] }),
      undefined,
      allocator,
    );
    allocator.note(undefined, first);
    expect([allocator.clusterIp('IPv4'), allocator.nodePort()]).to.deep.equal(['10.96.1.2', 30001]);
    allocator.note(first, undefined);
  });
});
