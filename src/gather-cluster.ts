import type { ObjectArguments } from './cli/arguments.ts';
import { readFileCluster } from './cli/file-cluster.ts';
import { addressesOfNode } from './cli/node-addresses.ts';
import type { Terminal } from './cli/terminal.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { listCluster, viewOf } from './list-cluster.ts';
import type { EndpointSlice } from './model/endpoint-slice.ts';
import type { InterfaceAddresses, NodeView } from './model/node-view.ts';
import type { Problem } from './model/problem.ts';
import { fail, type Result, succeed } from './model/result.ts';
import type { Service } from './model/service.ts';
import { openApi } from './open-api.ts';
import { ownNodeName } from './own-node.ts';

export interface GatherParts {
  readonly args: ObjectArguments;
  readonly config: ProxyConfig;
  /** Of the node; empty where they are not known, and those that its Node object names stand in. */
  readonly interfaces: InterfaceAddresses;
  readonly version: string;
  readonly terminal: Terminal;
}

/** The objects of a cluster, be it from its API server or from files, and the node that looks at them. */
export interface GatheredCluster {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly view: NodeView;
  readonly warnings: readonly Problem[];
  /** Some files could not be read; that is told already. */
  readonly isPartial: boolean;
}

/** Asks the API server once, or reads the files where some are given. The error is one line for a person. */
export async function gatherCluster(parts: GatherParts): Promise<Result<GatheredCluster, string>> {
  const { args, config, interfaces, version, terminal } = parts;
  if (args.files.length > 0) {
    const { objects, ...rest } = await readFileCluster(args, config, interfaces, terminal);
    return succeed({ services: objects.services, slices: objects.slices, ...rest });
  }
  const opened = await openApi(config, version);
  if (!opened.ok) return opened;
  const transport = opened.value;
  try {
    const nodeName = args.node ?? ownNodeName(config);
    const listed = await listCluster({ config, transport, nodeName });
    if (!listed.ok) return fail(listed.error);
    const { services, slices, node } = listed.value;
    const known = interfaces.size > 0 || !node ? interfaces : addressesOfNode(node);
    return succeed({ services, slices, ...viewOf(listed.value, nodeName, known), isPartial: false });
  } finally {
    transport.close();
  }
}
