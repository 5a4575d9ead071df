import type { Row } from '../rows.ts';
import { sees } from '../rows.ts';
import { externalName, nodePort, service, slice } from '../sketch.ts';
import {
  CLUSTER_GONE,
  CLUSTER_WORKS,
  endpoints,
  NO_PORT,
  NOBODY,
  NODE_PORT_GONE,
  NODE_PORT_WORKS,
  onNodes,
  plain,
  tcp,
  udp,
} from './works.ts';

/** Services that change their type, ports and addresses, and that come and go. */
export const CHANGES: readonly Row[] = [
  {
    name: 'Services should be able to change the type from ExternalName to ClusterIP',
    steps: [
      { objects: [externalName()], asks: CLUSTER_GONE },
      { objects: [plain, endpoints], asks: CLUSTER_WORKS },
    ],
  },
  {
    name: 'Services should be able to change the type from ExternalName to NodePort',
    steps: [
      { objects: [externalName()], asks: { ...CLUSTER_GONE, ...NODE_PORT_GONE } },
      { objects: [onNodes, endpoints], asks: { ...CLUSTER_WORKS, ...NODE_PORT_WORKS } },
    ],
  },
  {
    name: 'Services should be able to change the type from ClusterIP to ExternalName',
    steps: [
      { objects: [plain, endpoints], asks: CLUSTER_WORKS },
      { objects: [externalName()], asks: CLUSTER_GONE },
    ],
  },
  {
    name: 'Services should be able to change the type from NodePort to ExternalName',
    steps: [
      { objects: [onNodes, endpoints], asks: { ...CLUSTER_WORKS, ...NODE_PORT_WORKS } },
      { objects: [externalName()], asks: { ...CLUSTER_GONE, ...NODE_PORT_GONE } },
    ],
  },
  {
    name: 'Services should be able to change the type from ClusterIP to NodePort and back',
    steps: [
      { objects: [plain, endpoints], asks: { ...CLUSTER_WORKS, ...NODE_PORT_GONE } },
      { objects: [onNodes, endpoints], asks: { ...CLUSTER_WORKS, ...NODE_PORT_WORKS } },
      { objects: [plain, endpoints], asks: { ...CLUSTER_WORKS, ...NODE_PORT_GONE } },
    ],
  },
  {
    name: 'Services should be updated after adding or deleting ports',
    steps: [
      { objects: [plain, endpoints], asks: { ...CLUSTER_WORKS, 'a2 → cluster:443': NO_PORT } },
      {
        objects: [
          service({ ports: [tcp('http', 80), tcp('https', 443)] }),
          slice(['a1', 'b1'], { ports: [tcp('http', 8080), tcp('https', 8443)] }),
        ],
        asks: { ...CLUSTER_WORKS, 'a2 → cluster:443': 'a1:8443 sees a2 | b1:8443 sees a2' },
      },
      {
        objects: [service({ ports: [tcp('https', 443)] }), slice(['a1', 'b1'], { ports: [tcp('https', 8443)] })],
        asks: { 'a2 → cluster:80': NO_PORT, 'a2 → cluster:443': 'a1:8443 sees a2 | b1:8443 sees a2' },
      },
    ],
  },
  {
    name: 'Services should be able to up and down services',
    steps: [
      {
        objects: [plain, endpoints, service({ name: 'two', at: 'cluster2' }), slice(['a2'], { service: 'two' })],
        asks: { ...CLUSTER_WORKS, 'b2 → cluster2:80': 'a2 sees b2' },
      },
      {
        objects: [service({ name: 'two', at: 'cluster2' }), slice(['a2'], { service: 'two' })],
        asks: { ...CLUSTER_GONE, 'b2 → cluster2:80': 'a2 sees b2' },
      },
      {
        objects: [plain, endpoints, service({ name: 'two', at: 'cluster2' }), slice(['a2'], { service: 'two' })],
        asks: { ...CLUSTER_WORKS, 'b2 → cluster2:80': 'a2 sees b2' },
      },
    ],
  },
  {
    name: 'Services should work after the service has been recreated',
    steps: [
      { objects: [plain, endpoints], asks: CLUSTER_WORKS },
      { objects: [endpoints], asks: CLUSTER_GONE },
      {
        objects: [service({ at: 'cluster2' }), endpoints],
        asks: { ...CLUSTER_GONE, 'a2 → cluster2:80': sees('a1 b1', 'a2') },
      },
    ],
  },
  {
    name: 'Services should release NodePorts on delete',
    steps: [
      { objects: [onNodes, endpoints], asks: NODE_PORT_WORKS },
      { objects: [], asks: { ...CLUSTER_GONE, ...NODE_PORT_GONE } },
    ],
  },
  {
    name: 'Services should be able to update service type to NodePort listening on same port number but different protocols',
    steps: [
      { objects: [service({ ports: [tcp('t', 80), udp('u', 80)] })], asks: { 'client → node-a:30080/udp': NOBODY } },
      {
        objects: [
          service({
            type: 'NodePort',
            ports: [nodePort(30080, { name: 't' }), nodePort(30080, { name: 'u', protocol: 'UDP' })],
          }),
          slice(['a1'], { name: '1', ports: [tcp('t', 8080)] }),
          slice(['b1'], { name: '2', ports: [udp('u', 8080)] }),
        ],
        asks: {
          'client → node-a:30080': 'a1 sees node-a',
          'client → node-a:30080/udp': 'b1 sees node-a',
          'client → node-a:30080/sctp': NOBODY,
        },
      },
    ],
  },
];
