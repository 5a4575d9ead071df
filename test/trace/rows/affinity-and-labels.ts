import { type Row, sees } from '../rows.ts';
import { nodePort, service, slice } from '../sketch.ts';

const onNodes = (affinitySeconds?: number) => service({ type: 'NodePort', ports: [nodePort(30080)], affinitySeconds });
const endpoints = slice(['a1', 'b1']);

/** The four ways to node port and cluster address at which affinity shows. */
function stickyFor(text: string): Readonly<Record<string, string>> {
  return {
    'cluster:80': text,
    'cluster:80 at node-b': text,
    'node-a:30080': text,
    'node-b:30080': text,
    'node-c:30080': text,
  };
}

const AFFINITY: readonly Row[] = [
  {
    name: 'Services should have session affinity work for service with type clusterIP',
    steps: [
      {
        objects: [service({ affinitySeconds: 10800 }), endpoints],
        sticky: { 'cluster:80': '10800 s', 'cluster:80 at node-c': '10800 s' },
        asks: { 'a2 → cluster:80': sees('a1 b1', 'a2') },
      },
    ],
  },
  {
    name: 'Services should have session affinity work for NodePort service',
    steps: [{ objects: [onNodes(10800), endpoints], sticky: stickyFor('10800 s') }],
  },
  {
    name: 'Services should be able to switch session affinity for service with type clusterIP',
    steps: [10800, undefined, 10800].map((affinitySeconds) => ({
      objects: [service({ affinitySeconds }), endpoints],
      sticky: { 'cluster:80': affinitySeconds ? '10800 s' : 'none' },
    })),
  },
  {
    name: 'Services should be able to switch session affinity for NodePort service',
    steps: [10800, undefined, 10800].map((affinitySeconds) => ({
      objects: [onNodes(affinitySeconds), endpoints],
      sticky: stickyFor(affinitySeconds ? '10800 s' : 'none'),
    })),
  },
  {
    name: 'Services should have session affinity timeout work for NodePort service',
    steps: [{ objects: [onNodes(5), endpoints], sticky: stickyFor('5 s') }],
  },
  {
    name: 'LoadBalancers should have session affinity work for LoadBalancer service with Local traffic policy',
    steps: [
      {
        objects: [
          service({
            type: 'LoadBalancer',
            ports: [nodePort(30080)],
            balancers: ['balancer'],
            externalTrafficPolicy: 'Local',
            affinitySeconds: 600,
          }),
          endpoints,
        ],
        sticky: { 'balancer:80': '600 s', 'balancer:80 at node-b': '600 s', 'cluster:80': '600 s' },
      },
    ],
  },
];

const HEADLESS = { 'service.kubernetes.io/headless': '' };

const LABELS: readonly Row[] = [
  {
    name: 'Services should implement service.kubernetes.io/service-proxy-name',
    steps: [false, true, false, true].map((foreign) => ({
      objects: [service({ labels: foreign ? { 'service.kubernetes.io/service-proxy-name': 'other' } : {} }), endpoints],
      asks: {
        'a2 → cluster:80': foreign ? 'passed on to cluster:80 as a2' : sees('a1 b1', 'a2'),
        'node-a → cluster:80': foreign ? 'passed on to cluster:80 as node-a' : sees('a1 b1', 'node-a'),
      },
    })),
  },
  {
    name: 'Services should implement service.kubernetes.io/headless',
    steps: [false, true, false, true].map((headless) => ({
      objects: [
        service({ labels: headless ? HEADLESS : {} }),
        slice(['a1', 'b1'], { labels: headless ? HEADLESS : {} }),
      ],
      asks: {
        'a2 → cluster:80': headless ? 'refused by IPVS' : sees('a1 b1', 'a2'),
        'node-a → cluster:80': headless ? 'refused by IPVS' : sees('a1 b1', 'node-a'),
      },
    })),
  },
  {
    name: 'Services should not serve a Service without an address',
    steps: [
      {
        objects: [service({ at: 'None' }), slice(['a1'], { labels: HEADLESS })],
        asks: { 'a2 → cluster:80': 'passed on to cluster:80 as a2' },
      },
    ],
  },
];

/** Clients that stay with an endpoint, and labels that take a Service away from us. */
export const AFFINITY_AND_LABELS: readonly Row[] = [...AFFINITY, ...LABELS];
