import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { servicePort } from '../../test/builders/objects.ts';
import { isExternallyReachable } from './service-port.ts';

describe('model/service-port', () => {
  const ports = [
    { name: 'a cluster address only', given: {}, reachable: false },
    { name: 'a node port', given: { nodePort: port(30080) }, reachable: true },
    { name: 'an external address', given: { externalIPs: [ip('203.0.113.1')] }, reachable: true },
    { name: 'a load-balancer address', given: { loadBalancerVIPs: [ip('203.0.113.1')] }, reachable: true },
  ];
  for (const { name, given, reachable } of ports) {
    it(`is ${reachable ? '' : 'not '}reachable from outside with ${name}`, () =>
      expect(isExternallyReachable(servicePort(given))).to.equal(reachable));
  }
});
