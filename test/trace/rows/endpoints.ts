import { type Row, sees } from '../rows.ts';
import { endpoint, leaving, nodePort, service, slice } from '../sketch.ts';

const NOBODY_READY = 'refused by IPVS';
const NO_LOCAL = 'dropped by KUBE-PROXY-FIREWALL';

const everywhere = service({
  type: 'LoadBalancer',
  ports: [nodePort(30080)],
  externalIPs: ['external'],
  balancers: ['balancer'],
});
const REFUSED_EVERYWHERE = {
  'a2 → cluster:80': NOBODY_READY,
  'node-a → cluster:80': NOBODY_READY,
  'client → cluster:80': NOBODY_READY,
  'client → node-a:30080': NOBODY_READY,
  'a2 → node-b:30080': NOBODY_READY,
  'node-a → node-a:30080': NOBODY_READY,
  'client → external:80': NOBODY_READY,
  'a2 → external:80': NOBODY_READY,
  'node-a → balancer:80': NOBODY_READY,
  'client → balancer:80': NOBODY_READY,
};

const local = service({
  type: 'NodePort',
  ports: [nodePort(30080)],
  externalTrafficPolicy: 'Local',
});
const withHealthCheck = service({
  type: 'LoadBalancer',
  ports: [nodePort(30080)],
  balancers: ['balancer'],
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 32000,
});

/** Endpoints that are not, not yet or no longer ready, and endpoints chosen by zone and node. */
export const ENDPOINTS: readonly Row[] = [
  {
    name: 'Services should create endpoints for unready pods',
    steps: [
      { objects: [service(), slice([endpoint('a1', { serving: false })])], asks: { 'a2 → cluster:80': 'a1 sees a2' } },
    ],
  },
  {
    name: 'Services should be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is true',
    steps: [
      {
        objects: [
          service({ type: 'NodePort', ports: [nodePort(30080)] }),
          slice([endpoint('a1', { serving: false, terminating: true }), endpoint('b1', { serving: false })]),
        ],
        asks: { 'a2 → cluster:80': sees('a1 b1', 'a2'), 'client → node-a:30080': sees('a1 b1', 'node-a') },
      },
    ],
  },
  {
    name: 'Services should not be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is false',
    steps: [
      {
        objects: [
          everywhere,
          slice([endpoint('a1', { ready: false, terminating: true }), endpoint('b1', { ready: false })]),
        ],
        asks: REFUSED_EVERYWHERE,
      },
    ],
  },
  {
    name: 'Services should not be able to connect to unready endpoints that stand by with weight 0',
    settings: { weights: { ready: 10, readyNotServing: 5, notReady: 0 } },
    steps: [
      {
        objects: [service(), slice([endpoint('a1', { ready: false }), endpoint('b1')])],
        asks: { 'a2 → cluster:80': 'b1 sees a2', 'a2 → cluster:80 established': sees('a1 b1', 'a2') },
      },
      { objects: [everywhere, slice([endpoint('a1', { ready: false })])], asks: REFUSED_EVERYWHERE },
    ],
  },
  {
    name: 'Services should be rejected when no endpoints exist',
    steps: [{ objects: [everywhere], asks: REFUSED_EVERYWHERE }],
  },
  {
    name: 'Services should be rejected for evicted pods (no endpoints exist)',
    steps: [
      { objects: [everywhere, slice(['a1'])], asks: { 'client → node-b:30080': 'a1 sees node-b' } },
      { objects: [everywhere, slice([])], asks: REFUSED_EVERYWHERE },
    ],
  },
  {
    name: 'Services should fallback to terminating endpoints when there are no ready endpoints with internalTrafficPolicy=Cluster',
    steps: [
      { objects: [service(), slice([leaving('a1'), 'b1'])], asks: { 'a2 → cluster:80': 'b1 sees a2' } },
      {
        objects: [service(), slice([leaving('a1'), leaving('b1')])],
        asks: { 'a2 → cluster:80': sees('a1 b1', 'a2'), 'node-c → cluster:80': sees('a1 b1', 'node-c') },
      },
    ],
  },
  {
    name: 'Services should fallback to local terminating endpoints when there are no ready endpoints with internalTrafficPolicy=Local',
    steps: [
      {
        objects: [service({ internalTrafficPolicy: 'Local' }), slice([leaving('a1'), 'a2', 'b1'])],
        asks: { 'a1 → cluster:80': 'a2 sees a1', 'b2 → cluster:80': 'b1 sees b2' },
      },
      {
        objects: [service({ internalTrafficPolicy: 'Local' }), slice([leaving('a1'), 'b1'])],
        asks: {
          'a2 → cluster:80': 'a1 sees a2',
          'node-a → cluster:80': 'a1 sees node-a',
          'b2 → cluster:80': 'b1 sees b2',
          'c1 → cluster:80': { documented: NO_LOCAL, 'kube-proxy': NOBODY_READY },
          'node-c → cluster:80': NOBODY_READY,
        },
      },
    ],
  },
  {
    name: 'Services should fallback to terminating endpoints when there are no ready endpoints with externallTrafficPolicy=Cluster',
    steps: [
      {
        objects: [service({ type: 'NodePort', ports: [nodePort(30080)] }), slice([leaving('a1'), leaving('b1')])],
        asks: {
          'client → node-a:30080': sees('a1 b1', 'node-a'),
          'client → node-c:30080': sees('a1 b1', 'node-c'),
          'a2 → node-a:30080': sees('a1 b1', 'node-a'),
        },
      },
    ],
  },
  {
    name: 'Services should fallback to local terminating endpoints when there are no ready endpoints with externalTrafficPolicy=Local',
    steps: [
      {
        objects: [local, slice([leaving('a1')])],
        asks: {
          'client → node-a:30080': 'a1 sees client',
          'client → node-b:30080': { documented: NO_LOCAL, 'kube-proxy': 'a1 sees client in vain' },
        },
      },
      {
        objects: [local, slice([leaving('a1'), 'b1'])],
        asks: { 'client → node-a:30080': 'a1 sees client', 'client → node-b:30080': 'b1 sees client' },
      },
    ],
  },
  {
    name: 'Services should fail health check node port if there are only terminating endpoints',
    steps: [
      {
        objects: [withHealthCheck, slice(['a1'])],
        healthy: { 'node-a': 1, 'node-b': 0 },
        asks: { 'client → balancer:80': 'a1 sees client' },
      },
      {
        objects: [withHealthCheck, slice([leaving('a1')])],
        healthy: { 'node-a': 0, 'node-b': 0 },
        asks: { 'client → balancer:80': 'a1 sees client', 'client → node-a:30080': 'a1 sees client' },
      },
    ],
  },
  {
    name: 'Conntrack should be able to preserve UDP traffic when server pod cycles for a NodePort service',
    steps: ['a1', 'b1', 'a1'].map((pod) => ({
      objects: [
        service({ type: 'NodePort', ports: [nodePort(30080, { name: 'u', protocol: 'UDP' })] }),
        slice([pod], { ports: [{ name: 'u', protocol: 'UDP', port: 8080 }] }),
      ],
      asks: { 'client → node-a:30080/udp': `${pod} sees node-a`, 'a2 → cluster:80/udp': `${pod} sees a2` },
    })),
  },
  {
    name: 'Conntrack should be able to preserve UDP traffic when initial unready endpoints get ready',
    steps: [false, true].map((ready) => ({
      objects: [
        service({ ports: [{ name: 'u', protocol: 'UDP', port: 80 }] }),
        slice([endpoint('b1', { ready })], { ports: [{ name: 'u', protocol: 'UDP', port: 8080 }] }),
      ],
      asks: { 'a2 → cluster:80/udp': ready ? 'b1 sees a2' : NOBODY_READY },
    })),
  },
  {
    name: 'Traffic Distribution should route traffic to an endpoint in the same zone when using PreferSameZone',
    steps: [
      {
        objects: [
          service({ type: 'NodePort', ports: [nodePort(30080)] }),
          slice(['a1', 'b1', 'c1'].map((pod) => endpoint(pod, { zones: [`zone-${pod[0]}`] }))),
        ],
        asks: {
          'a2 → cluster:80': 'a1 sees a2',
          'b2 → cluster:80': 'b1 sees b2',
          'c1 → cluster:80': 'c1 sees node-c',
          'node-b → cluster:80': 'b1 sees node-b',
          'client → node-b:30080': 'b1 sees node-b',
        },
      },
    ],
  },
  {
    name: 'Traffic Distribution should route traffic to all endpoints when there is none in the same zone',
    steps: [
      {
        objects: [service(), slice(['a1', 'b1'].map((pod) => endpoint(pod, { zones: [`zone-${pod[0]}`] })))],
        asks: { 'c1 → cluster:80': sees('a1 b1', 'c1'), 'b2 → cluster:80': 'b1 sees b2' },
      },
      {
        objects: [service(), slice([endpoint('a1', { zones: ['zone-a'] }), 'b1'])],
        asks: { 'a2 → cluster:80': sees('a1 b1', 'a2') },
      },
    ],
  },
  {
    name: 'Traffic Distribution should route traffic to an endpoint on the same node, or in the same zone, or to all, when using PreferSameNode',
    steps: [
      {
        objects: [
          service(),
          slice([
            endpoint('a1', { nodes: ['node-a'], zones: ['zone-a', 'zone-c'] }),
            endpoint('b1', { nodes: ['node-b'], zones: ['zone-b'] }),
          ]),
        ],
        asks: { 'a2 → cluster:80': 'a1 sees a2', 'b2 → cluster:80': 'b1 sees b2', 'c1 → cluster:80': 'a1 sees c1' },
      },
    ],
  },
];
