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
import { listCluster, viewOf } from './list-cluster.ts';
import { describeProblem } from './model/problem.ts';
import { computeOnce } from './sync/compute-once.ts';

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
  const listed = await listCluster(parts);
  if (!listed.ok) return giveUp(terminal, listed.error);
  const { view, warnings: ofCluster } = viewOf(listed.value, nodeName, interfaces.value);
  const families = computeOnce(listed.value, view, abilities.families, proxySettings(config, abilities.randomFully));
  const warnings = [...ofCluster, ...families.flatMap((family) => family.problems)];
  for (const warning of warnings) terminal.error(`warning: ${describeProblem(warning)}`);
  const sysctls = [
    ...wantedSysctls(abilities.kernelRelease, config.ipvs.strictARP, config),
    ...wantedConntrack(config.conntrack, await countCpus(host)),
  ];
  for (const part of formatDryRun({ families, sysctls, warnings }, form)) await terminal.output(part);
  return 0;
}

function giveUp(terminal: Terminal, message: string): ExitCode {
  terminal.error(`error: ${message}`);
  return 1;
}
