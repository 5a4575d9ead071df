import { hostname } from 'node:os';
import type { ProxyConfig } from '../config/proxy-config.ts';
import { nearestFirst } from '../config/suggest.ts';
import { type ClusterObjects, decodeObjects } from '../kube/cluster-objects.ts';
import { readObjectFiles } from '../kube/read-files.ts';
import type { ClusterNode, InterfaceAddresses, NodeView } from '../model/node-view.ts';
import { describeProblem, type Problem } from '../model/problem.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { OtherNodes } from '../tracking/other-nodes.ts';
import type { RenderArguments } from './arguments.ts';
import { addressesOfNode } from './node-addresses.ts';
import type { Terminal } from './terminal.ts';

/** A cluster that consists of what files hold, as one node sees it. */
export interface FileCluster {
  readonly objects: ClusterObjects;
  readonly view: NodeView;
  readonly warnings: readonly Problem[];
  /** Some of the input could not be read; what was is told already. */
  readonly isPartial: boolean;
}

/** Reads the files. `interfaces`: of the node; where there are none, the addresses that its Node object names. */
export async function readFileCluster(
  { files: names, node: name }: Pick<RenderArguments, 'files' | 'node'>,
  config: ProxyConfig,
  interfaces: InterfaceAddresses,
  terminal: Terminal,
): Promise<FileCluster> {
  const files = await readObjectFiles(names, terminal.input);
  for (const problem of files.problems) terminal.error(`error: ${describeProblem(problem)}`);
  const objects = decodeObjects(files.objects);
  if (objects.ignored.size > 0) terminal.error(`note: passed over: ${countKinds(objects.ignored)}`);
  if ([objects.services, objects.slices, objects.nodes].every(({ length }) => length === 0)) {
    terminal.error('warning: no Service, EndpointSlice or Node was read');
  }
  const node = findNode(name, config, objects.nodes);
  const view: NodeView = {
    ...node.object,
    otherNodeAddresses: addressesOfOthers(node.object, objects.nodes),
    interfaces: interfaces.size > 0 ? interfaces : addressesOfNode(node.object),
  };
  const warnings = [...node.warnings, ...objects.problems, ...nodePortWarning(objects, view)];
  return { objects, view, warnings, isPartial: files.problems.length > 0 };
}

interface FoundNode {
  readonly object: ClusterNode;
  readonly warnings: readonly Problem[];
}

/** The one named; without a name the only one there is; else this machine, about which the API says nothing then. */
function findNode(asked: string | undefined, config: ProxyConfig, nodes: readonly ClusterNode[]): FoundNode {
  const only = nodes.length === 1 ? nodes[0]?.name : undefined;
  const name = asked ?? config.hostnameOverride ?? only ?? hostname().toLowerCase();
  const object = nodes.find((node) => node.name === name);
  if (object) return { object, warnings: [] };
  const near = nearestFirst(
    name,
    nodes.map((node) => node.name),
  ).slice(0, SHOWN);
  const there = near.length === 0 ? '' : `; there is ${near.join(', ')}`;
  const message = `is not among the objects; its zone, pod ranges and addresses are not known${there}`;
  return {
    object: { name, zone: undefined, podCIDRs: [], addresses: [] },
    warnings: [{ object: `Node ${name}`, field: '', message }],
  };
}

const SHOWN = 10;

function addressesOfOthers({ name, addresses }: ClusterNode, nodes: readonly ClusterNode[]): ReadonlySet<IpAddress> {
  const others = new OtherNodes();
  others.recordOwn(addresses);
  for (const node of nodes) if (node.name !== name) others.recordOther([], node.addresses);
  return others.addresses();
}

function nodePortWarning({ services }: ClusterObjects, { name, interfaces }: NodeView): readonly Problem[] {
  const hasNodePorts = services.some(({ ports }) => ports.some(({ nodePort }) => nodePort !== undefined));
  const hasAddresses = [...interfaces.values()].some((addresses) => addresses.length > 0);
  if (!hasNodePorts || hasAddresses) return [];
  return [
    {
      object: `Node ${name}`,
      field: '',
      message: 'has no known address, so no node port is served; give --node-addresses',
    },
  ];
}

function countKinds(ignored: ReadonlyMap<string, number>): string {
  return [...ignored].map(([kind, count]) => `${count} × ${kind}`).join(', ');
}
