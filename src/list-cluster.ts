import type { ProxyConfig } from './config/proxy-config.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { watchCluster } from './kube/watch-cluster.ts';
import type { EndpointSlice } from './model/endpoint-slice.ts';
import type { ClusterNode, InterfaceAddresses, NodeView } from './model/node-view.ts';
import type { Problem } from './model/problem.ts';
import { fail, type Result, succeed } from './model/result.ts';
import type { Service } from './model/service.ts';
import type { IpAddress } from './net/ip-address.ts';
import { systemClock } from './queue/clock.ts';
import { OtherNodes } from './tracking/other-nodes.ts';

export interface ListParts {
  readonly config: Pick<ProxyConfig, 'otherNodes'>;
  readonly transport: ApiTransport;
  readonly nodeName: string;
}

/** What the API server has at one time. */
export interface ListedCluster {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly node: ClusterNode | undefined;
  readonly otherNodeAddresses: ReadonlySet<IpAddress>;
  readonly problems: readonly Problem[];
}

/** The first trouble ends it: a person waits for the answer. */
export async function listCluster({ transport, nodeName, config }: ListParts): Promise<Result<ListedCluster, string>> {
  const services: Service[] = [];
  const slices: EndpointSlice[] = [];
  const problems: Problem[] = [];
  const otherNodes = new OtherNodes();
  let node: ClusterNode | undefined;
  const ended = Promise.withResolvers<Result<ListedCluster, string>>();
  const watch = watchCluster({
    transport,
    nodeName,
    otherNodes: config.otherNodes,
    clock: systemClock,
    random: Math.random,
    handler: {
      service: (_, current) => current && services.push(current),
      slice: (_, current) => current && slices.push(current),
      node: (_, current) => {
        node = current;
        otherNodes.recordOwn(current?.addresses ?? []);
      },
      otherNode: (previous, current) => otherNodes.recordOther(previous ?? [], current ?? []),
      listed: (late) => {
        const message = 'could not be listed in time; their addresses are not left out';
        problems.push(...late.map((resource) => ({ object: resource, field: '', message })));
        ended.resolve(succeed({ services, slices, node, otherNodeAddresses: otherNodes.addresses(), problems }));
      },
      problem: (problem) => problems.push(problem),
      trouble: (resource, message) => ended.resolve(fail(`${resource} could not be listed: ${message}`)),
      recovered: () => {},
    },
  });
  watch.start();
  const result = await ended.promise;
  await watch.stop();
  return result;
}

/** The node as the first pass would see it, and what is wrong with what was listed. */
export function viewOf(
  { node, otherNodeAddresses, problems }: ListedCluster,
  nodeName: string,
  interfaces: InterfaceAddresses,
): { readonly view: NodeView; readonly warnings: readonly Problem[] } {
  const unknown = { name: nodeName, zone: undefined, podCIDRs: [], addresses: [] };
  const missing = { object: `Node ${nodeName}`, field: '', message: 'is not known to the API server' };
  return {
    view: { ...(node ?? unknown), otherNodeAddresses, interfaces },
    warnings: node ? problems : [missing, ...problems],
  };
}
