import { hostname } from 'node:os';
import type { ProxyConfig } from '../config/proxy-config.ts';
import { proxySettings } from '../config/proxy-settings.ts';
import { wantedSysctls } from '../kernel/sysctl/wanted.ts';
import { type ClusterObjects, decodeObjects } from '../kube/cluster-objects.ts';
import { readObjectFiles } from '../kube/read-files.ts';
import type { ClusterNode, NodeView } from '../model/node-view.ts';
import { describeProblem, type Problem } from '../model/problem.ts';
import { FAMILIES } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { computeOnce } from '../sync/compute-once.ts';
import { OtherNodes } from '../tracking/other-nodes.ts';
import type { RenderArguments } from './command-line.ts';
import type { ExitCode } from './exit-code.ts';
import { addressesOfNode, parseNodeAddresses } from './node-addresses.ts';
import { type DryRun, formatDryRun } from './output.ts';
import { printNotices, readConfig } from './read-config.ts';
import type { Terminal } from './terminal.ts';

/** The dry run without a cluster. Status 1 when some input could not be read; what could be read is printed all the same. */
export async function render(args: RenderArguments, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(args.flags, terminal);
  const interfaces = parseNodeAddresses(args.nodeAddresses);
  if (!interfaces.ok) terminal.error(`error: ${interfaces.error}`);
  if (!config || !interfaces.ok) return 2;
  printNotices(config, terminal);
  const files = await readObjectFiles(args.files, terminal.input);
  for (const problem of files.problems) terminal.error(`error: ${describeProblem(problem)}`);
  const objects = decodeObjects(files.objects);
  const node = findNode(args, config, objects.nodes);
  const view: NodeView = {
    ...node.object,
    otherNodeAddresses: addressesOfOthers(node.object, objects.nodes),
    interfaces: interfaces.value.size > 0 ? interfaces.value : addressesOfNode(node.object),
  };
  const dryRun = renderObjects(objects, view, config);
  const warnings = [...node.warnings, ...objects.problems, ...nodePortWarning(objects, view), ...dryRun.warnings];
  for (const warning of warnings) terminal.error(`warning: ${describeProblem(warning)}`);
  if (objects.ignored.size > 0) terminal.error(`note: passed over: ${countKinds(objects.ignored)}`);
  for (const part of formatDryRun({ ...dryRun, warnings }, args.form)) await terminal.output(part);
  return files.problems.length > 0 ? 1 : 0;
}

function renderObjects(objects: ClusterObjects, node: NodeView, config: ProxyConfig): DryRun {
  const families = computeOnce(objects, node, FAMILIES, proxySettings(config, true));
  return {
    families,
    sysctls: wantedSysctls(CURRENT_KERNEL, config.ipvs.strictARP, config),
    warnings: families.flatMap(({ problems }) => problems),
  };
}

/** Offline nothing is known of the node's kernel; settings for old ones are left out. */
const CURRENT_KERNEL = '6.1';

interface FoundNode {
  readonly object: ClusterNode;
  readonly warnings: readonly Problem[];
}

/** The one named; without a name the only one there is; else this machine, about which the API says nothing then. */
function findNode(args: RenderArguments, config: ProxyConfig, nodes: readonly ClusterNode[]): FoundNode {
  const only = nodes.length === 1 ? nodes[0]?.name : undefined;
  const name = args.node ?? config.hostnameOverride ?? only ?? hostname().toLowerCase();
  const object = nodes.find((node) => node.name === name);
  if (object) return { object, warnings: [] };
  const message = 'is not among the objects; its zone, pod ranges and addresses are not known';
  return {
    object: { name, zone: undefined, podCIDRs: [], addresses: [] },
    warnings: [{ object: `Node ${name}`, field: '', message }],
  };
}

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
