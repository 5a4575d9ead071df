import { type ClusterObjects, decodeObjects } from '../../src/kube/cluster-objects.ts';
import type { Json } from '../../src/kube/fields.ts';
import type { EndpointSlice } from '../../src/model/endpoint-slice.ts';
import type { NodeView } from '../../src/model/node-view.ts';
import { GeneratedCluster } from '../../src/replay/generated-cluster.ts';
import { seededRandom } from '../../src/replay/random.ts';
import { nodeView } from '../builders/objects.ts';
import type { Links } from '../kernel/memory-kernel.ts';

const ENDPOINTS = 10;

/** One of the 50 nodes of the cluster: a fiftieth of the endpoints is on it. */
export const NODE_NAME = 'node-1';

export const LINKS: Links = { lo: ['127.0.0.1/8'], eth0: ['192.168.0.10/24'] };

/** The node as a dry run knows it. */
export function benchNode(): NodeView {
  return nodeView({ name: NODE_NAME, interfaces: LINKS });
}

/** Services of one TCP port with 10 ready endpoints in one slice each, IPv4, as the API has them. The same size gives the same objects. */
export function clusterJson(size: number): readonly Json[] {
  return [...new GeneratedCluster(size, ENDPOINTS, seededRandom(1)).first()].map(({ object }) => object);
}

/** The same in memory, decoded. */
export function clusterObjects(size: number): ClusterObjects {
  return decodeObjects(clusterJson(size));
}

/** Without its last endpoint. */
export function oneEndpointLess(slice: EndpointSlice): EndpointSlice {
  return { ...slice, endpoints: slice.endpoints.slice(0, -1) };
}

/** The slice in the middle of the list. */
export function middleSlice({ slices }: ClusterObjects): EndpointSlice {
  const slice = slices[Math.floor(slices.length / 2)];
  if (!slice) throw new Error('a cluster without a slice has no middle');
  return slice;
}
