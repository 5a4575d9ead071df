import type { Logger } from 'pino';
import type { Host } from './apply/host.ts';
import { adjustOomScore } from './apply/oom-score.ts';
import { type NodeAbilities, type NodeTroubles, prepareNode } from './apply/prepare-node.ts';
import { probeScheduler } from './apply/probe-scheduler.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { schedulerFlags } from './desired/scheduler-flags.ts';
import type { ProxySettings } from './desired/settings.ts';
import { type Result, succeed } from './model/result.ts';

export interface MakeReadyParts {
  readonly config: ProxyConfig;
  readonly abilities: NodeAbilities;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

export interface ReadyNode {
  /** With a scheduler that its kernel has. */
  readonly settings: ProxySettings;
  /** Of a scheduler that the kernel lacks. */
  readonly schedulerWarning: string | undefined;
}

/** Makes the node ready for the first pass: the rank of the process when memory runs out, modules, settings of the kernel, the scheduler. */
export async function makeReady(
  host: Host,
  { config, abilities, log }: MakeReadyParts,
): Promise<Result<ReadyNode, NodeTroubles>> {
  const refused = await adjustOomScore(host, config.oomScoreAdj);
  if (refused !== undefined) log.debug(refused);
  const { ipvs, conntrack } = config;
  const wanted = { strictArp: ipvs.strictARP, timeouts: ipvs, sloppy: config, conntrack };
  const prepared = await prepareNode(host, abilities.kernelRelease, wanted);
  if (!prepared.ok) return prepared;
  for (const warning of prepared.value.warnings) log.warn(warning);
  for (const { path, value } of prepared.value.written) log.info({ path, value }, 'kernel setting changed');
  const settings = proxySettings(config, abilities.randomFully);
  const { scheduler } = settings;
  const flags = schedulerFlags(scheduler, settings.schedulerFlags);
  const probed = await probeScheduler(host, { scheduler, schedulerFlags: flags });
  if (!probed.ok) return probed;
  const { chosen, warning } = probed.value;
  if (warning !== undefined) log.warn(warning);
  return succeed({ settings: { ...settings, ...chosen }, schedulerWarning: warning });
}
