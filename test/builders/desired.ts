import fc from 'fast-check';
import { computeDesired, type Desired } from '../../src/desired/compute-desired.ts';
import type { Endpoint } from '../../src/model/endpoint.ts';
import type { ServicePort } from '../../src/model/service-port.ts';
import { PROTOCOLS } from '../../src/net/protocol.ts';
import { cidr, ip, port } from './net.ts';
import { endpoint, nodeView, servicePort, settings } from './objects.ts';

/** What is wanted of IPv4 for the service ports given, each with its endpoints, on node-a with address 192.168.0.10. */
export function desiredFor(
  ports: readonly (readonly [ServicePort, readonly Endpoint[]])[],
  given: Parameters<typeof settings>[0] = {},
): Desired {
  const tracked = {
    family: 'IPv4' as const,
    ports: new Map(ports.map(([each]) => [each.key, each])),
    endpoints: new Map(ports.map(([each, endpoints]) => [each.key, endpoints])),
    changed: new Set<never>(),
  };
  return computeDesired(tracked, nodeView({ addresses: [ip('192.168.0.10')] }), settings(given), undefined);
}

/** Any few Services of every sort, no two with the same frontend. */
export function anyDesired(): fc.Arbitrary<Desired> {
  const ports = fc.tuple(...[1, 2, 3].map((index) => fc.option(anyServicePort(index), { freq: 3 })));
  return ports.map((list) => desiredFor(list.filter((each) => each !== null)));
}

function anyServicePort(index: number): fc.Arbitrary<readonly [ServicePort, readonly Endpoint[]]> {
  const some = <T>(value: T) => fc.constantFrom<readonly T[]>([], [value]);
  const facts = fc.record({
    clusterIP: fc.constantFrom(ip(`172.20.1.${index}`), ip(`172.20.2.${index}`)),
    port: fc.constantFrom(port(80), port(443)),
    protocol: fc.constantFrom(...PROTOCOLS),
    nodePort: fc.option(fc.constant(port(30080 + index)), { nil: undefined }),
    affinitySeconds: fc.constantFrom(0, 600),
    externalPolicyLocal: fc.boolean(),
    externalIPs: some(ip(`203.0.113.${index}`)),
    loadBalancerVIPs: some(ip(`203.0.113.1${index}`)),
    loadBalancerSourceRanges: some(cidr('198.51.100.0/24')),
  });
  const endpoints = fc
    .subarray([1, 2, 3])
    .map((list) => list.map((last) => endpoint({ address: ip(`10.180.${index}.${last}`), local: last === 1 })));
  return fc.tuple(facts, endpoints).map(([given, list]) => [servicePort({ ...given, name: `shop/${index}` }), list]);
}
