import type { At } from './dial.ts';
import type { Offer } from './offers.ts';

/** Which address a pod sees: the client's own, or one of the node that sends on to it. */
export type Seen = 'client' | 'node';

/** What a client is told at one place. */
export interface Path {
  readonly from: string;
  readonly at: At;
  /** Pods that answer with what each of them sees; or what happens instead. */
  readonly outcome: Readonly<Record<string, Seen>> | 'refused' | 'dropped';
}

/** A Service with everybody who asks it. */
export interface Kind {
  readonly title: string;
  readonly offer: Offer;
  readonly paths: readonly Path[];
}

const LOCAL_INSIDE = { internalTrafficPolicy: 'Local' };
const LOCAL_OUTSIDE = { externalTrafficPolicy: 'Local' };

function path(from: string, at: At, outcome: Path['outcome']): Path {
  return { from, at, outcome };
}

/** External IPs and load balancers behave alike. */
function externalPaths(): Readonly<Record<'cluster' | 'local' | 'far', readonly Path[]>> {
  const everywhere = { a1: 'node', b1: 'node' } as const;
  return {
    cluster: ['client', 'a2', 'b2', 'node-a', 'node-b'].map((from) => path(from, 'external', everywhere)),
    local: [
      path('client', 'external', { a1: 'client' }),
      path('a2', 'external', { a1: 'client' }),
      path('b2', 'external', { b1: 'client' }),
      path('node-a', 'external', { a1: 'node' }),
      path('node-b', 'external', { b1: 'node' }),
    ],
    far: [
      path('client', 'external', 'dropped'),
      path('a2', 'external', { b1: 'client' }),
      path('node-a', 'external', { b1: 'node' }),
      path('b2', 'external', { b1: 'client' }),
      path('node-b', 'external', { b1: 'node' }),
    ],
  };
}

/** Every kind of Service with each of its policies, in the lab of two nodes. */
export const KINDS: readonly Kind[] = [
  {
    title: 'a ClusterIP',
    offer: { name: 'plain', number: 11, type: 'ClusterIP', pods: ['a1', 'b1'] },
    paths: [
      path('a2', 'cluster', { a1: 'client', b1: 'client' }),
      path('a1', 'cluster', { a1: 'node', b1: 'client' }),
      path('node-a', 'cluster', { a1: 'node', b1: 'node' }),
    ],
  },
  {
    title: 'a ClusterIP with internal policy Local, one pod on each node',
    offer: { name: 'inside', number: 12, type: 'ClusterIP', pods: ['a1', 'b1'], spec: LOCAL_INSIDE },
    paths: [
      path('a2', 'cluster', { a1: 'client' }),
      path('b2', 'cluster', { b1: 'client' }),
      path('node-a', 'cluster', { a1: 'node' }),
    ],
  },
  {
    title: 'a ClusterIP with internal policy Local, no pod on node-a',
    offer: { name: 'inside-far', number: 13, type: 'ClusterIP', pods: ['b1'], spec: LOCAL_INSIDE },
    paths: [
      path('a2', 'cluster', 'dropped'),
      path('node-a', 'cluster', 'refused'),
      path('b2', 'cluster', { b1: 'client' }),
      path('node-b', 'cluster', { b1: 'node' }),
    ],
  },
  {
    title: 'a NodePort',
    offer: { name: 'ports', number: 14, type: 'NodePort', pods: ['a1', 'b1'] },
    paths: ['client', 'a2', 'node-a'].flatMap((from) => [
      path(from, 'node-a', { a1: 'node', b1: 'node' }),
      path(from, 'node-b', { a1: 'node', b1: 'node' }),
    ]),
  },
  {
    title: 'a NodePort with external policy Local, one pod on each node',
    offer: { name: 'ports-local', number: 15, type: 'NodePort', pods: ['a1', 'b1'], spec: LOCAL_OUTSIDE },
    paths: [
      path('client', 'node-a', { a1: 'client' }),
      path('client', 'node-b', { b1: 'client' }),
      path('a2', 'node-a', { a1: 'client' }),
      path('a2', 'node-b', { b1: 'client' }),
      path('node-a', 'node-a', { a1: 'node' }),
      path('node-a', 'node-b', { b1: 'client' }),
    ],
  },
  {
    title: 'a NodePort with external policy Local, no pod on node-a',
    offer: { name: 'ports-far', number: 16, type: 'NodePort', pods: ['b1'], spec: LOCAL_OUTSIDE },
    paths: [
      path('client', 'node-a', 'dropped'),
      path('client', 'node-b', { b1: 'client' }),
      path('a2', 'node-a', { b1: 'client' }),
      path('node-a', 'node-a', { b1: 'node' }),
      path('node-b', 'node-a', 'dropped'),
      path('b2', 'node-a', { b1: 'node' }),
      path('b1', 'node-a', { b1: 'node' }),
      path('node-a', 'cluster', { b1: 'node' }),
    ],
  },
  {
    title: 'external IPs',
    offer: { name: 'external', number: 17, type: 'ClusterIP', pods: ['a1', 'b1'], hasExternalIPs: true },
    paths: externalPaths().cluster,
  },
  {
    title: 'external IPs with external policy Local, one pod on each node',
    offer: {
      name: 'external-local',
      number: 18,
      type: 'NodePort',
      pods: ['a1', 'b1'],
      hasExternalIPs: true,
      spec: LOCAL_OUTSIDE,
    },
    paths: externalPaths().local,
  },
  {
    title: 'external IPs with external policy Local, no pod on node-a',
    offer: {
      name: 'external-far',
      number: 19,
      type: 'NodePort',
      pods: ['b1'],
      hasExternalIPs: true,
      spec: LOCAL_OUTSIDE,
    },
    paths: externalPaths().far,
  },
  {
    title: 'a LoadBalancer',
    offer: { name: 'balanced', number: 20, type: 'LoadBalancer', pods: ['a1', 'b1'] },
    paths: [
      ...externalPaths().cluster,
      path('client', 'node-b', { a1: 'node', b1: 'node' }),
      path('a2', 'cluster', { a1: 'client', b1: 'client' }),
    ],
  },
  {
    title: 'a LoadBalancer with external policy Local, one pod on each node',
    offer: { name: 'balanced-local', number: 21, type: 'LoadBalancer', pods: ['a1', 'b1'], spec: LOCAL_OUTSIDE },
    paths: externalPaths().local,
  },
  {
    title: 'a LoadBalancer with external policy Local, no pod on node-a',
    offer: { name: 'balanced-far', number: 22, type: 'LoadBalancer', pods: ['b1'], spec: LOCAL_OUTSIDE },
    paths: externalPaths().far,
  },
  {
    title: 'a LoadBalancer with both policies Local, no pod on node-a',
    offer: {
      name: 'all-far',
      number: 23,
      type: 'LoadBalancer',
      pods: ['b1'],
      spec: { ...LOCAL_INSIDE, ...LOCAL_OUTSIDE },
    },
    paths: [
      path('a2', 'cluster', 'dropped'),
      path('node-a', 'cluster', 'refused'),
      path('b2', 'cluster', { b1: 'client' }),
      path('a2', 'external', { b1: 'client' }),
      path('client', 'external', 'dropped'),
      path('client', 'node-b', { b1: 'client' }),
    ],
  },
  {
    title: 'a LoadBalancer with external policy Local whose only pod asks for itself',
    offer: { name: 'alone', number: 25, type: 'LoadBalancer', pods: ['a1'], spec: LOCAL_OUTSIDE },
    paths: (['cluster', 'external', 'node-a'] as const).map((at) => path('a1', at, { a1: 'node' })),
  },
  {
    title: 'a LoadBalancer without endpoints',
    offer: { name: 'empty', number: 26, type: 'LoadBalancer', pods: [] },
    paths: [
      path('client', 'external', 'refused'),
      path('client', 'node-a', 'refused'),
      path('a2', 'cluster', 'refused'),
      path('a2', 'external', 'refused'),
      path('node-a', 'cluster', 'refused'),
    ],
  },
  {
    title: 'a LoadBalancer without endpoints, both policies Local',
    offer: {
      name: 'empty-local',
      number: 27,
      type: 'LoadBalancer',
      pods: [],
      spec: { ...LOCAL_INSIDE, ...LOCAL_OUTSIDE },
    },
    paths: [
      path('client', 'external', 'refused'),
      path('client', 'node-a', 'refused'),
      path('a2', 'cluster', 'refused'),
    ],
  },
];
