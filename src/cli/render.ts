import type { ProxyConfig } from '../config/proxy-config.ts';
import { proxySettings } from '../config/proxy-settings.ts';
import { wantedSysctls } from '../kernel/sysctl/wanted.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import type { NodeView } from '../model/node-view.ts';
import { describeProblem } from '../model/problem.ts';
import { FAMILIES } from '../net/family.ts';
import { computeOnce } from '../sync/compute-once.ts';
import type { RenderArguments } from './arguments.ts';
import type { ExitCode } from './exit-code.ts';
import { readFileCluster } from './file-cluster.ts';
import { parseNodeAddresses } from './node-addresses.ts';
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
  const { objects, view, isPartial, ...read } = await readFileCluster(args, config, interfaces.value, terminal);
  const dryRun = renderObjects(objects, view, config);
  const warnings = [...read.warnings, ...dryRun.warnings];
  for (const warning of warnings) terminal.error(`warning: ${describeProblem(warning)}`);
  for (const part of formatDryRun({ ...dryRun, warnings }, args.form)) await terminal.output(part);
  return isPartial ? 1 : 0;
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
