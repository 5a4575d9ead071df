import type { Host } from './apply/host.ts';
import { countCpus } from './apply/prepare-conntrack.ts';
import type { NodeAbilities } from './apply/prepare-node.ts';
import { describeReadError, readInterfaces } from './apply/read-kernel.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { formatDryRun, type OutputForm } from './cli/output.ts';
import type { Terminal } from './cli/terminal.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { wantedConntrack } from './kernel/sysctl/conntrack.ts';
import { wantedSysctls } from './kernel/sysctl/wanted.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { watchCluster } from './kube/watch-cluster.ts';
import type { EndpointSlice } from './model/endpoint-slice.ts';
import type { ClusterNode } from './model/node-view.ts';
import { describeProblem, type Problem } from './model/problem.ts';
import { fail, type Result, succeed } from './model/result.ts';
import type { Service } from './model/service.ts';
import type { IpAddress } from './net/ip-address.ts';
import { systemClock } from './queue/clock.ts';
import { computeOnce } from './sync/compute-once.ts';
import { OtherNodes } from './tracking/other-nodes.ts';

export interface DryRunParts {
  readonly config: ProxyConfig;
  readonly abilities: NodeAbilities;
  readonly transport: ApiTransport;
  readonly nodeName: string;
  readonly host: Host;
  readonly form: OutputForm;
  readonly terminal: Terminal;
}

/** Lists the cluster once and prints what would be programmed on this node; touches nothing. */
export async function dryRunCluster(parts: DryRunParts): Promise<ExitCode> {
  const { config, abilities, host, nodeName, terminal, form } = parts;
  const interfaces = await readInterfaces(host);
  if (!interfaces.ok) return giveUp(terminal, describeReadError(interfaces.error));
  const listed = await listOnce(parts);
  if (!listed.ok) return giveUp(terminal, listed.error);
  const { node, otherNodeAddresses, problems, ...objects } = listed.value;
  const unknownNode = { name: nodeName, zone: undefined, podCIDRs: [], addresses: [] };
  const view = { ...(node ?? unknownNode), otherNodeAddresses, interfaces: interfaces.value };
  const families = computeOnce(objects, view, abilities.families, proxySettings(config, abilities.randomFully));
  const missing: Problem[] = node
    ? []
    : [{ object: `Node ${nodeName}`, field: '', message: 'is not known to the API server' }];
  const warnings = [...missing, ...problems, ...families.flatMap((family) => family.problems)];
  for (const warning of warnings) terminal.error(`warning: ${describeProblem(warning)}`);
  const sysctls = [
    ...wantedSysctls(abilities.kernelRelease, config.ipvs.strictARP, config),
    ...wantedConntrack(config.conntrack, await countCpus(host)),
  ];
  for (const part of formatDryRun({ families, sysctls, warnings }, form)) await terminal.output(part);
  return 0;
}

interface ListedCluster {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly node: ClusterNode | undefined;
  readonly otherNodeAddresses: ReadonlySet<IpAddress>;
  readonly problems: readonly Problem[];
}

/** The first trouble ends it: a person waits for the answer. */
async function listOnce({ transport, nodeName, config }: DryRunParts): Promise<Result<ListedCluster, string>> {
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

function giveUp(terminal: Terminal, message: string): ExitCode {
  terminal.error(`error: ${message}`);
  return 1;
}
