import type { Logger } from 'pino';
import type { Host } from './apply/host.ts';
import { judgeIdleTimeouts, readIdleTimeouts } from './apply/idle-timeouts.ts';
import { adjustOomScore } from './apply/oom-score.ts';
import {
  type IpvsTimeouts,
  type NodeAbilities,
  type NodePreparation,
  type NodeTroubles,
  prepareNode,
  setTimeouts,
} from './apply/prepare-node.ts';
import { probeScheduler } from './apply/probe-scheduler.ts';
import { ruleLockWarning } from './apply/rule-lock.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { schedulerFlags } from './desired/scheduler-flags.ts';
import type { ProxySettings } from './desired/settings.ts';
import { chooseReuseMode } from './kernel/sysctl/wanted.ts';
import { type Result, succeed } from './model/result.ts';

export interface MakeReadyParts {
  readonly config: ProxyConfig;
  readonly abilities: NodeAbilities;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

export interface ReadyNode {
  /** With a scheduler that its kernel has. */
  readonly settings: ProxySettings;
  /** Of a scheduler that the kernel lacks, where `rr` serves in its place. */
  readonly schedulerWarning: string | undefined;
  /** Writes the settings of the kernel again when somebody has loaded IPVS anew; a look at one file else. Never fails. */
  readonly keepSettings: () => Promise<void>;
}

/** Makes the node ready for the first pass: the rank of the process when memory runs out, modules, settings of the kernel, the scheduler. */
export async function makeReady(
  host: Host,
  { config, abilities, log }: MakeReadyParts,
): Promise<Result<ReadyNode, NodeTroubles>> {
  const refused = await adjustOomScore(host, config.oomScoreAdj);
  if (refused !== undefined) log.debug(refused);
  const { ipvs, conntrack } = config;
  const wanted = { strictArp: ipvs.strictARP, timeouts: ipvs, choices: config, conntrack };
  const prepared = await prepareNode(host, abilities.kernelRelease, wanted);
  if (!prepared.ok) return prepared;
  for (const warning of prepared.value.warnings) log.warn(warning);
  tellWritten(prepared.value, log);
  const mode = chooseReuseMode(abilities.kernelRelease, config) ?? 'as it is';
  log.info({ kernel: abilities.kernelRelease, mode }, 'mode for reused ports chosen');
  await tellFound(host, ipvs, log);
  const settings = proxySettings(config, abilities.randomFully);
  const { scheduler } = settings;
  const flags = schedulerFlags(scheduler, settings.schedulerFlags);
  const probed = await probeScheduler(host, { scheduler, schedulerFlags: flags, ifUnknown: config.unknownScheduler });
  if (!probed.ok) return probed;
  const { chosen, warning } = probed.value;
  if (warning !== undefined) log.warn(warning);
  let said = '';
  const keepSettings = async () => {
    const kept = await host.readText(RESET_BY_LOADING);
    if (kept.ok && kept.value.trim() === '1') return;
    const again = await prepareNode(host, abilities.kernelRelease, wanted);
    if (again.ok) {
      said = '';
      return tellWritten(again.value, log);
    }
    const troubles = [...again.error, ...(await setTimeouts(host, ipvs))].join('; ');
    if (troubles !== said) log.warn(troubles);
    said = troubles;
  };
  return succeed({ settings: { ...settings, ...chosen }, schedulerWarning: warning, keepSettings });
}

/** A setting that is always wanted to be 1, and 0 when IPVS was loaded anew. */
const RESET_BY_LOADING = '/proc/sys/net/ipv4/vs/conntrack';

function tellWritten({ written }: NodePreparation, log: MakeReadyParts['log']): void {
  for (const { path, value } of written) log.info({ path, value }, 'kernel setting changed');
}

/** What holds on this node beside what is set, and where that may surprise. */
async function tellFound(host: Host, asked: IpvsTimeouts, log: MakeReadyParts['log']): Promise<void> {
  const timeouts = await readIdleTimeouts(host);
  if (timeouts) log.info(timeouts, 'seconds after which idle connections end');
  for (const warning of timeouts ? judgeIdleTimeouts(timeouts, asked) : []) log.warn(warning);
  const lock = await ruleLockWarning(host);
  if (lock !== undefined) log.warn(lock);
}
