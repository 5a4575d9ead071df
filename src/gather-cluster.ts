import type { ObjectArguments } from './cli/arguments.ts';
import { readFileCluster } from './cli/file-cluster.ts';
import { addressesOfNode } from './cli/node-addresses.ts';
import type { Terminal } from './cli/terminal.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { listUnselected, type UnselectedQuery } from './kube/unselected-services.ts';
import { listCluster, viewOf } from './list-cluster.ts';
import type { EndpointSlice } from './model/endpoint-slice.ts';
import type { InterfaceAddresses, NodeView } from './model/node-view.ts';
import type { Problem } from './model/problem.ts';
import { fail, type Result, succeed } from './model/result.ts';
import type { Service, UnselectedService } from './model/service.ts';
import { openApi } from './open-api.ts';
import { ownNodeName } from './own-node.ts';

export interface GatherParts {
  readonly args: ObjectArguments;
  readonly config: ProxyConfig;
  /** Of the node; empty where they are not known, and those that its Node object names stand in. */
  readonly interfaces: InterfaceAddresses;
  /** Which Services count also where they are not for this proxy; none by default. */
  readonly others?: UnselectedQuery;
  readonly version: string;
  readonly terminal: Terminal;
}

/** The objects of a cluster, be it from its API server or from files, and the node that looks at them. */
export interface GatheredCluster {
  readonly services: readonly Service[];
  /** Those of the files; of the API server those that are asked for. */
  readonly unselected: readonly UnselectedService[];
  readonly slices: readonly EndpointSlice[];
  readonly view: NodeView;
  readonly warnings: readonly Problem[];
  /** Some files could not be read; that is told already. */
  readonly isPartial: boolean;
}

/** Asks the API server once, or reads the files where some are given. The error is one line for a person. */
export async function gatherCluster(parts: GatherParts): Promise<Result<GatheredCluster, string>> {
  const { args, config, interfaces, others, version, terminal } = parts;
  if (args.files.length > 0) {
    const { objects, ...rest } = await readFileCluster(args, config, interfaces, terminal);
    const { services, slices, unselected } = objects;
    return succeed({ services, slices, unselected, ...rest });
  }
  const opened = await openApi(config, version, (message) => terminal.error(`warning: ${message}`));
  if (!opened.ok) return opened;
  const transport = opened.value;
  try {
    const nodeName = args.node ?? ownNodeName(config);
    const listed = await listCluster({ config, transport, nodeName });
    if (!listed.ok) return fail(listed.error);
    const unselected = others === undefined ? succeed([]) : await listUnselected(transport, others);
    if (!unselected.ok) return unselected;
    const { services, slices, node } = listed.value;
    const known = interfaces.size > 0 || !node ? interfaces : addressesOfNode(node);
    const seen = viewOf(listed.value, nodeName, known);
    return succeed({ services, slices, unselected: unselected.value, ...seen, isPartial: false });
  } finally {
    transport.close();
  }
}
