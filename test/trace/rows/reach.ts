import type { Row } from '../rows.ts';
import { sees } from '../rows.ts';
import { service, slice } from '../sketch.ts';
import {
  CLUSTER_WORKS,
  endpoints,
  NO_PORT,
  NOBODY,
  NOBODY_READY,
  NODE_PORT_WORKS,
  onNodes,
  plain,
  tcp,
  udp,
} from './works.ts';

/** Reaching Services at their addresses and ports. */
export const REACH: readonly Row[] = [
  {
    name: 'Services should be able to create a functioning NodePort service',
    steps: [
      {
        objects: [onNodes, endpoints],
        asks: { ...CLUSTER_WORKS, ...NODE_PORT_WORKS, 'a2 → cluster:81': NO_PORT, 'node-a → localhost:30080': NOBODY },
      },
    ],
  },
  {
    name: 'Services should serve multiport endpoints from pods',
    steps: [
      {
        objects: [
          service({ ports: [tcp('one', 80), tcp('two', 81)] }),
          slice(['a1'], { name: '1', ports: [tcp('one', 100)] }),
          slice(['b1'], { name: '2', ports: [tcp('two', 101)] }),
        ],
        asks: {
          'a2 → cluster:80': 'a1:100 sees a2',
          'a2 → cluster:81': 'b1:101 sees a2',
          'node-a → cluster:81': 'b1:101 sees node-a',
        },
      },
      {
        objects: [
          service({ ports: [tcp('one', 80), tcp('two', 81)] }),
          slice(['b1'], { name: '2', ports: [tcp('two', 101)] }),
        ],
        asks: { 'a2 → cluster:80': NOBODY_READY, 'a2 → cluster:81': 'b1:101 sees a2' },
      },
    ],
  },
  {
    name: 'Services should serve endpoints on same port and different protocols',
    steps: [
      {
        objects: [
          service({ ports: [tcp('t', 80), udp('u', 80)] }),
          slice(['a1'], { ports: [tcp('t', 8080), udp('u', 8080)] }),
        ],
        asks: { 'b1 → cluster:80': 'a1 sees b1', 'b1 → cluster:80/udp': 'a1 sees b1', 'b1 → cluster:80/sctp': NO_PORT },
      },
      {
        objects: [service({ ports: [udp('u', 80)] }), slice(['a1'], { ports: [udp('u', 8080)] })],
        asks: { 'a2 → cluster:80': NO_PORT, 'a2 → cluster:80/udp': 'a1 sees a2', 'node-a → cluster:80': NO_PORT },
      },
    ],
  },
  {
    name: 'Services should serve a basic endpoint from pods',
    steps: [
      { objects: [plain, slice([])], asks: { 'a2 → cluster:80': NOBODY_READY } },
      { objects: [plain, slice(['a1'])], asks: { 'a2 → cluster:80': 'a1 sees a2' } },
      { objects: [plain, slice(['a1', 'b1'])], asks: CLUSTER_WORKS },
      { objects: [plain, slice(['b1'])], asks: { 'a2 → cluster:80': 'b1 sees a2' } },
      { objects: [plain, slice([])], asks: { 'a2 → cluster:80': NOBODY_READY, 'node-a → cluster:80': NOBODY_READY } },
    ],
  },
  {
    name: 'EndpointSlice should support a Service with multiple endpoint IPs specified in multiple EndpointSlices',
    steps: [
      { objects: [plain, slice(['a1'], { name: '1' }), slice(['b1', 'a1'], { name: '2' })], asks: CLUSTER_WORKS },
    ],
  },
  {
    name: 'EndpointSlice should support a Service with multiple ports specified in multiple EndpointSlices',
    steps: [
      {
        objects: [
          service({ ports: [tcp('one', 80), tcp('two', 443)] }),
          slice(['a1', 'b1'], { name: '1', ports: [tcp('one', 3000)] }),
          slice(['a1', 'b1'], { name: '2', ports: [tcp('two', 3001)] }),
        ],
        asks: {
          'a2 → cluster:80': 'a1:3000 sees a2 | b1:3000 sees a2',
          'a2 → cluster:443': 'a1:3001 sees a2 | b1:3001 sees a2',
        },
      },
    ],
  },
  {
    name: 'DNS should provide DNS for the cluster',
    steps: [
      {
        objects: [
          service({ ports: [udp('dns', 53), tcp('dns-tcp', 53)] }),
          slice(['b1'], { ports: [udp('dns', 53), tcp('dns-tcp', 53)] }),
        ],
        asks: {
          'a2 → cluster:53/udp': 'b1:53 sees a2',
          'a2 → cluster:53': 'b1:53 sees a2',
          'node-a → cluster:53/udp': 'b1:53 sees node-a',
        },
      },
    ],
  },
  {
    name: 'Services should be possible to connect to a service via ExternalIP when the external IP is not assigned to a node',
    steps: [
      {
        objects: [service({ externalIPs: ['external'] }), endpoints],
        asks: {
          ...CLUSTER_WORKS,
          'a2 → external:80': sees('a1 b1', 'node-a'),
          'a1 → external:80': sees('a1 b1', 'node-a'),
          'node-a → external:80': sees('a1 b1', 'node-a'),
          'client → external:80': sees('a1 b1', 'node-a'),
          'client → external:80 at node-b': sees('a1 b1', 'node-b'),
          'client → external:81': NO_PORT,
        },
      },
    ],
  },
  {
    name: 'Services should preserve source pod IP for traffic thru service cluster IP',
    steps: [
      {
        objects: [plain, slice(['b1'])],
        asks: { 'a1 → cluster:80': 'b1 sees a1', 'b2 → cluster:80': 'b1 sees b2', 'c1 → cluster:80': 'b1 sees c1' },
      },
    ],
  },
  {
    name: 'Services should not preserve source pod IP where everything is masqueraded',
    settings: { masqueradeAll: true },
    steps: [
      {
        objects: [plain, slice(['b1'])],
        asks: { 'a1 → cluster:80': 'b1 sees node-a', 'b2 → cluster:80': 'b1 sees node-b' },
      },
    ],
  },
  {
    name: 'Services should allow pods to hairpin back to themselves through services',
    steps: [
      {
        objects: [onNodes, endpoints],
        asks: {
          'a1 → cluster:80': 'a1 sees node-a | b1 sees a1',
          'b1 → cluster:80': 'a1 sees b1 | b1 sees node-b',
          'a1 → node-a:30080': sees('a1 b1', 'node-a'),
        },
      },
    ],
  },
];
