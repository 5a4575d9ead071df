import { differingSettings } from './apply/differing-settings.ts';
import { type Host, systemHost } from './apply/host.ts';
import { examineNode, type NodeAbilities } from './apply/prepare-node.ts';
import type { DiffArguments } from './cli/arguments.ts';
import { changesOf, type DiffReport, formatDiff } from './cli/diff-output.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { parseNodeAddresses } from './cli/node-addresses.ts';
import { printNotices, readConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import type { Desired } from './desired/desired.ts';
import type { Change } from './explain/change.ts';
import { type Comparison, compareNode } from './explain/compare-node.ts';
import { gatherCluster } from './gather-cluster.ts';
import { wantedSysctls } from './kernel/sysctl/wanted.ts';
import { describeProblem } from './model/problem.ts';
import { readNode, type SeenNode } from './read-node.ts';
import { computeOnce } from './sync/compute-once.ts';

/**
 * Prints what a pass would change on this node, and changes nothing; needs no lock, so the daemon may run. Status 3 when anything would
 * change, 1 when that cannot be told.
 */
export async function diffNode(
  args: DiffArguments,
  version: string,
  terminal: Terminal,
  host: Host = systemHost,
): Promise<ExitCode> {
  const config = await readConfig(args.flags, terminal);
  const given = parseNodeAddresses(args.nodeAddresses);
  if (!given.ok) terminal.error(`error: ${given.error}`);
  if (!config || !given.ok) return 2;
  printNotices(config, terminal);
  const examined = await examineNode(host);
  if (!examined.ok) return giveUp(terminal, examined.error);
  const abilities = examined.value;
  const seen = await readNode(host, abilities.families);
  if (!seen.ok) return giveUp(terminal, [seen.error]);
  const interfaces = given.value.size > 0 ? given.value : seen.value.interfaces;
  const gathered = await gatherCluster({ args, config, interfaces, version, terminal });
  if (!gathered.ok) return giveUp(terminal, [gathered.error]);
  const { view, isPartial, ...cluster } = gathered.value;
  const families = computeOnce(cluster, view, abilities.families, proxySettings(config, abilities.randomFully));
  const warnings = [...cluster.warnings, ...families.flatMap(({ problems }) => problems)];
  for (const warning of warnings) terminal.error(`warning: ${describeProblem(warning)}`);
  if (isPartial) return giveUp(terminal, ['not compared, as some of what should be there could not be read']);
  const comparisons = compareFamilies(families, seen.value.observed, config);
  const report = { families, comparisons, warnings, settings: await settingChanges(host, abilities, config) };
  return tell(report, args, terminal);
}

async function tell(report: DiffReport, args: DiffArguments, terminal: Terminal): Promise<ExitCode> {
  for (const trouble of report.comparisons.flatMap(({ troubles }) => troubles)) terminal.error(`warning: ${trouble}`);
  await terminal.output(formatDiff(report, args.form));
  return changesOf(report).length > 0 ? 3 : 0;
}

/** The interface that families share is made once. */
export function compareFamilies(
  families: readonly Desired[],
  observed: SeenNode['observed'],
  { behaviour, ipvs, draining }: ProxyConfig,
): readonly Comparison[] {
  const settings = { behaviour, excludeCIDRs: ipvs.excludeCIDRs, drainsDeleted: draining.ofDeletedServices };
  const compared: Comparison[] = [];
  for (const desired of families) {
    const own = observed.get(desired.kernel.family);
    if (!own) continue;
    const exists = own.dummy.exists || compared.length > 0;
    compared.push(compareNode(desired, { ...own, dummy: { ...own.dummy, exists } }, settings));
  }
  return compared;
}

/** What the daemon writes at its start. */
async function settingChanges(
  host: Host,
  { kernelRelease }: NodeAbilities,
  config: ProxyConfig,
): Promise<readonly Change[]> {
  const wanted = wantedSysctls(kernelRelease, config.ipvs.strictARP, config);
  return (await differingSettings(host, wanted)).map(({ path, present, value }) => ({
    action: 'change',
    tool: 'sysctl',
    family: undefined,
    thing: `setting ${path.replaceAll('/', '.')}`,
    services: [],
    why: `${present} → ${value}`,
  }));
}

function giveUp(terminal: Terminal, troubles: readonly string[]): ExitCode {
  for (const trouble of troubles) terminal.error(`error: ${trouble}`);
  return 1;
}
