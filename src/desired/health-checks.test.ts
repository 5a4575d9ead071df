import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, nodeView, servicePort, settings } from '../../test/builders/objects.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { HealthChecks } from './health-checks.ts';
import { nodeInputs } from './node-inputs.ts';
import { type ServicePart, servicePart } from './service-part.ts';

describe('desired/health-checks', () => {
  const node = nodeInputs(nodeView(), 'IPv4', settings());
  const part = (name: string, portName: string, check: number | undefined, endpoints: readonly Endpoint[]) =>
    servicePart(
      servicePort({
        name,
        portName,
        externalPolicyLocal: true,
        healthCheckNodePort: check === undefined ? undefined : port(check),
      }),
      endpoints,
      node,
      settings(),
    );
  const local = (address: string, given: Partial<Endpoint> = {}) =>
    endpoint({ address: ip(address), local: true, ...given });

  const healthChecks = (parts: readonly ServicePart[]) => {
    const checks = new HealthChecks();
    for (const each of parts) checks.replace(each.port.key, undefined, each);
    return checks.all();
  };

  it('counts different addresses of ready local endpoints over all ports of a Service', () => {
    const parts = [
      part('shop/cart', 'http', 32000, [local('10.180.0.1'), local('10.180.0.2'), endpoint()]),
      part('shop/cart', 'https', 32000, [local('10.180.0.2', { port: port(8443) }), local('10.180.0.3')]),
    ];
    expect(healthChecks(parts)).to.deep.equal([{ service: 'shop/cart', port: 32000, localEndpoints: 3 }]);
  });

  it('does not count endpoints that are not ready, even while they serve', () => {
    const endpoints = [
      local('10.180.0.1', { ready: false, terminating: true }),
      local('10.180.0.2', { ready: false, serving: false }),
    ];
    expect(healthChecks([part('shop/cart', 'http', 32000, endpoints)])).to.deep.equal([
      { service: 'shop/cart', port: 32000, localEndpoints: 0 },
    ]);
  });

  it('has one check for each Service that asks for one, sorted', () => {
    const parts = [
      part('shop/z', 'http', 32002, []),
      part('shop/b', 'http', undefined, [local('10.180.0.1')]),
      part('shop/a', 'http', 32001, []),
    ];
    expect(healthChecks(parts).map(({ service }) => service)).to.deep.equal(['shop/a', 'shop/z']);
  });

  it('follows the ports of a Service as they change and go, and the Service with its last one', () => {
    const checks = new HealthChecks();
    const [http, https] = [
      part('shop/cart', 'http', 32000, [local('10.180.0.1')]),
      part('shop/cart', 'https', 32000, [local('10.180.0.2')]),
    ];
    for (const each of [http, https]) checks.replace(each.port.key, undefined, each);
    const [both] = checks.all();
    const less = part('shop/cart', 'https', 32000, []);
    checks.replace(https.port.key, https, less);
    const [one] = checks.all();
    checks.replace(https.port.key, less, undefined);
    checks.replace(http.port.key, http, part('shop/cart', 'http', undefined, [local('10.180.0.1')]));
    expect([both?.localEndpoints, one?.localEndpoints, checks.all()]).to.deep.equal([2, 1, []]);
  });

  it('has none for nothing', () => expect(healthChecks([])).to.deep.equal([]));
});
