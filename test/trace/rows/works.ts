import type { ObjectJson } from '../../kernel/cluster-objects.ts';
import { sees } from '../rows.ts';
import { nodePort, service, slice } from '../sketch.ts';

export const NO_PORT = 'refused by KUBE-IPVS-FILTER';
export const NOBODY = 'refused by nobody listening';
export const NOBODY_READY = 'refused by IPVS';

export const plain = service();
export const onNodes = service({ type: 'NodePort', ports: [nodePort(30080)] });
export const endpoints = slice(['a1', 'b1']);

/** What works at a cluster address with endpoints a1 and b1. */
export const CLUSTER_WORKS = {
  'a2 → cluster:80': sees('a1 b1', 'a2'),
  'b2 → cluster:80': sees('a1 b1', 'b2'),
  'c1 → cluster:80': sees('a1 b1', 'c1'),
  'node-a → cluster:80': sees('a1 b1', 'node-a'),
  'node-c → cluster:80': sees('a1 b1', 'node-c'),
};

/** What works at node port 30080 with endpoints a1 and b1. */
export const NODE_PORT_WORKS = {
  'client → node-a:30080': sees('a1 b1', 'node-a'),
  'client → node-c:30080': sees('a1 b1', 'node-c'),
  'a2 → node-a:30080': sees('a1 b1', 'node-a'),
  'a2 → node-b:30080': sees('a1 b1', 'node-b'),
  'node-a → node-a:30080': sees('a1 b1', 'node-a'),
  'node-a → node-b:30080': sees('a1 b1', 'node-b'),
};

export const CLUSTER_GONE = {
  'a2 → cluster:80': 'passed on to cluster:80 as a2',
  'node-a → cluster:80': 'passed on to cluster:80 as node-a',
};
export const NODE_PORT_GONE = {
  'client → node-a:30080': NOBODY,
  'a2 → node-b:30080': NOBODY,
  'node-a → node-a:30080': NOBODY,
};

export function tcp(name: string, port: number, more: ObjectJson = {}): ObjectJson {
  return { name, protocol: 'TCP', port, ...more };
}

export function udp(name: string, port: number, more: ObjectJson = {}): ObjectJson {
  return { name, protocol: 'UDP', port, ...more };
}
