import fc from 'fast-check';
import type { Behaviour, DetectLocal, ProxySettings } from '../../src/desired/settings.ts';
import type { Cidr } from '../../src/net/cidr.ts';
import { PROTOCOLS } from '../../src/net/protocol.ts';
import { cidr } from '../builders/net.ts';
import { settings } from '../builders/objects.ts';
import { nodeObject, type ObjectJson, serviceObject, sliceObject } from './cluster-objects.ts';

/** One moment of a cluster, and how the node comes to know of it. */
export interface WalkStep {
  readonly objects: readonly ObjectJson[];
  /** Whether the node's second addresses stand on eth0. */
  readonly floating: boolean;
  /** `restart`: by a new process, which has seen nothing before, with settings of its own. */
  readonly by: { readonly kind: 'normal' | 'full' } | { readonly kind: 'restart'; readonly settings: ProxySettings };
}

const SERVICES = [1, 2, 3] as const;

/** Addresses that come and go on eth0; Services may claim them too. */
export const FLOATING = ['192.168.0.200', 'fd00:168::200'] as const;

/** Settings that leave nothing standing by intent. */
export function anySettings(behaviour: Behaviour): fc.Arbitrary<ProxySettings> {
  const detectors: readonly DetectLocal[] = [
    { kind: 'cluster-cidr', cidrs: [] },
    { kind: 'cluster-cidr', cidrs: [cidr('10.180.0.0/16'), cidr('fd00:180::/32')] },
    { kind: 'node-cidr' },
    { kind: 'bridge-interface', name: 'cni0' },
    { kind: 'interface-name-prefix', prefix: 'veth' },
  ];
  return fc
    .record({
      scheduler: fc.constantFrom('rr', 'rr', 'lc', 'mh'),
      weights: fc.constantFrom(undefined, undefined, { ready: 10, readyNotServing: 5, notReady: 0 }),
      masqueradeAll: fc.boolean(),
      detectLocal: fc.constantFrom(...detectors),
      nodePortAddresses: fc.constantFrom([], [], ['primary' as const], [cidr('10.7.0.0/16')], nodeRanges(behaviour)),
    })
    .map((given) => settings({ ...given, behaviour }));
}

/** As kube-proxy sees them, addresses on kube-ipvs0 inside the ranges have node ports too, from the full pass after they were bound. */
function nodeRanges(behaviour: Behaviour): readonly Cidr[] {
  const ranges = {
    documented: ['192.168.0.0/24', 'fd00:168::/64'],
    'kube-proxy': ['192.168.0.0/25', 'fd00:168::/121'],
  };
  return ranges[behaviour].map(cidr);
}

/** Any few Services of every kind with slices of every kind; no two steps need to have anything in common, most have much. */
export function anyStep(behaviours: readonly Behaviour[]): fc.Arbitrary<WalkStep> {
  const objects = fc.tuple(anyNodes(), ...SERVICES.map(anyServiceWithSlices)).map((lists) => lists.flat());
  const settingsOfAny = fc.constantFrom(...behaviours).chain(anySettings);
  const by: fc.Arbitrary<WalkStep['by']> = fc.oneof(
    { weight: 6, arbitrary: fc.constant({ kind: 'normal' }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'full' }) },
    { weight: 2, arbitrary: settingsOfAny.map((each) => ({ kind: 'restart' as const, settings: each })) },
  );
  return fc.record({ objects, floating: oftenFalse(), by });
}

function anyNodes(): fc.Arbitrary<readonly ObjectJson[]> {
  return fc
    .record({
      zone: fc.constantFrom('zone-a', undefined),
      podCIDRs: fc.constantFrom(['10.180.0.0/24', 'fd00:180::/64'], []),
      foreign: fc.subarray(['203.0.113.2', '2001:db8::10', '192.168.0.200']),
    })
    .map(({ zone, podCIDRs, foreign }) => [
      nodeObject('node-a', { addresses: ['192.168.0.10', 'fd00:168::10'], podCIDRs, ...(zone ? { zone } : {}) }),
      nodeObject('node-b', { addresses: ['192.168.0.11', ...foreign] }),
    ]);
}

function anyServiceWithSlices(index: number): fc.Arbitrary<readonly ObjectJson[]> {
  const slices = fc.tuple(...[1, 2, 3].map((number) => fc.option(anySlice(index, number), { freq: 2 })));
  return fc
    .tuple(fc.option(anyService(index), { freq: 4 }), slices)
    .map(([service, list]) => [service, ...list].filter((object) => object !== null));
}

function anyService(index: number): fc.Arbitrary<ObjectJson> {
  return fc
    .record({
      type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer', 'LoadBalancer', 'ExternalName', 'headless'),
      families: fc.constantFrom(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']),
      variant: fc.constantFrom(1, 1, 1, 2),
      ports: fc.subarray(portsOf(index), { minLength: 1, maxLength: 3 }),
      affinity: fc.constantFrom(undefined, undefined, 5, 10800),
      policies: fc.tuple(anyPolicy(), anyPolicy()),
      externalIPs: fc.subarray(['203.0.113.1', '203.0.113.2', '2001:db8::1', ...FLOATING], { maxLength: 2 }),
      ingress: fc.subarray(INGRESS, { maxLength: 3 }),
      ranges: fc.constantFrom(...RANGES),
      unselected: fc.nat(9).map((number) => number === 0),
    })
    .map(({ type, families, variant, ports, affinity, policies: [internal, external], ...given }) => {
      const nodePorts = type === 'NodePort' || type === 'LoadBalancer';
      const addresses = families.map((family) =>
        family === 'IPv4' ? `172.20.${variant}.${index}` : `fd00:20:${variant}::${index}`,
      );
      const isBalanced = type === 'LoadBalancer';
      return serviceObject(`shop/s${index}`, {
        type: type === 'headless' ? 'ClusterIP' : type,
        clusterIPs: type === 'headless' ? ['None'] : type === 'ExternalName' ? [] : addresses,
        ipFamilies: families,
        ports: ports.map(({ nodePort, ...port }) => (nodePorts ? { ...port, nodePort } : port)),
        affinitySeconds: affinity,
        internalTrafficPolicy: internal,
        ...(nodePorts || given.externalIPs.length > 0 ? { externalTrafficPolicy: external } : {}),
        externalIPs: given.externalIPs,
        ...(isBalanced ? { ingress: given.ingress, loadBalancerSourceRanges: given.ranges } : {}),
        ...(isBalanced && external === 'Local' ? { healthCheckNodePort: 32000 + index } : {}),
        labels: given.unselected ? { 'service.kubernetes.io/service-proxy-name': 'other' } : {},
      });
    });
}

function portsOf(index: number) {
  return PROTOCOLS.flatMap((protocol, kind) =>
    [80, 5300].map((port, number) => ({
      name: `${protocol.toLowerCase()}-${port}`,
      protocol,
      port,
      nodePort: 30000 + 100 * index + 10 * kind + number,
    })),
  );
}

const INGRESS: ObjectJson[] = [
  { ip: '198.51.100.1' },
  { ip: '198.51.100.2', ipMode: 'VIP' },
  { ip: '198.51.100.3', ipMode: 'Proxy' },
  { ip: '2001:db8::10' },
  { hostname: 'lb.example' },
  ...FLOATING.map((ip) => ({ ip })),
];

const RANGES: readonly (readonly string[])[] = [
  [],
  [],
  ['10.0.0.0/8'],
  ['192.168.0.0/24', '198.18.0.1/32'],
  ['2001:db8::/32'],
  ['fd00:168::/64', '10.0.0.0/8'],
  ['0.0.0.0/0'],
  ['::/0', '10.0.0.0/8'],
  ['nowhere'],
];

function anySlice(index: number, number: number): fc.Arbitrary<ObjectJson> {
  return fc.constantFrom('IPv4' as const, 'IPv6' as const).chain((family) =>
    fc
      .record({
        service: fc.nat(9).map((dice) => `s${dice === 0 ? (index % SERVICES.length) + 1 : index}`),
        ports: fc.subarray(portsOf(index), { minLength: 3 }),
        target: fc.constantFrom(8080, 8080, 9090),
        endpoints: fc.array(anyEndpoint(family), { maxLength: 3 }),
        unselected: fc.nat(9).map((dice) => dice === 0),
      })
      .map(({ service, ports, target, endpoints, unselected }) =>
        sliceObject(`shop/s${index}-${number}`, {
          service,
          family,
          ports: ports.map(({ name, protocol }) => ({ name, protocol, port: target })),
          endpoints,
          labels: unselected ? { 'service.kubernetes.io/headless': '' } : {},
        }),
      ),
  );
}

function anyEndpoint(family: 'IPv4' | 'IPv6'): fc.Arbitrary<ObjectJson> {
  const condition = fc.constantFrom(undefined, true, false);
  return fc
    .record({
      last: fc.constantFrom(1, 2, 3, 4),
      nodeName: fc.constantFrom('node-a', 'node-b', undefined),
      ready: fc.constantFrom(undefined, true, true, false),
      serving: condition,
      terminating: condition,
      hints: fc.constantFrom(...HINTS),
    })
    .map(({ last, nodeName, hints, ...conditions }) => ({
      addresses: [family === 'IPv4' ? `10.180.0.${last}` : `fd00:180::${last}`],
      nodeName,
      conditions,
      hints,
    }));
}

const HINTS: readonly (ObjectJson | undefined)[] = [
  undefined,
  undefined,
  { forZones: [{ name: 'zone-a' }] },
  { forZones: [{ name: 'zone-b' }] },
  { forZones: [{ name: 'zone-b' }], forNodes: [{ name: 'node-a' }] },
];

function anyPolicy(): fc.Arbitrary<'Cluster' | 'Local'> {
  return fc.constantFrom('Cluster', 'Local');
}

function oftenFalse(): fc.Arbitrary<boolean> {
  return fc.nat(3).map((dice) => dice === 3);
}
