import fc from 'fast-check';
import { computeDesired } from '../../src/desired/compute-desired.ts';
import type { Desired } from '../../src/desired/desired.ts';
import { DesiredState } from '../../src/desired/desired-state.ts';
import type { Endpoint } from '../../src/model/endpoint.ts';
import type { ServicePortKey } from '../../src/model/names.ts';
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
  };
  return computeDesired(tracked, nodeView({ addresses: [ip('192.168.0.10')] }), settings(given));
}

export type PortsWithEndpoints = readonly (readonly [ServicePort, readonly Endpoint[]])[];

/** A wanted state of IPv4 that goes from some service ports to others, as passes lead it. */
export class DesiredSteps {
  readonly state: DesiredState;
  #before: PortsWithEndpoints = [];

  constructor(given: Parameters<typeof settings>[0] = {}) {
    this.state = new DesiredState('IPv4', settings(given));
  }

  /** What is wanted for these; those that are the same objects as before count as unchanged. */
  to(ports: PortsWithEndpoints, view = nodeView({ addresses: [ip('192.168.0.10')] })): Desired {
    const find = (list: PortsWithEndpoints, key: ServicePortKey) => list.find(([each]) => each.key === key);
    const keys = [...this.#before, ...ports].map(([{ key }]) => key);
    const changed = keys.filter((key) => {
      const [old, now] = [find(this.#before, key), find(ports, key)];
      return old?.[0] !== now?.[0] || old?.[1] !== now?.[1];
    });
    this.#before = ports;
    const tracked = {
      family: 'IPv4' as const,
      ports: new Map(ports.map(([each]) => [each.key, each])),
      endpoints: new Map(ports.map(([each, endpoints]) => [each.key, endpoints])),
      changed: new Set<never>(),
      changedPorts: new Set(changed),
    };
    return this.state.update(tracked, view);
  }
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

/** Everything that a pass does with it, without the order of maps and sets, which means nothing. */
export function sortedText({ kernel, healthChecks, problems }: Desired): string {
  const plain = (_: string, value: unknown): unknown => {
    if (value instanceof Set) return [...value].sort();
    return value instanceof Map ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value;
  };
  return JSON.stringify({ ...kernel, healthChecks, problems }, plain, 1);
}
