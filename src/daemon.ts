import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type Host, systemHost } from './apply/host.ts';
import { Kernel } from './apply/kernel.ts';
import { examineNode, type NodeAbilities, type NodeTroubles, prepareNode } from './apply/prepare-node.ts';
import { probeScheduler } from './apply/probe-scheduler.ts';
import type { RunArguments } from './cli/command-line.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { readConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import { clusterHandler } from './cluster-handler.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { schedulerFlags } from './desired/scheduler-flags.ts';
import type { ProxySettings } from './desired/settings.ts';
import { dryRunCluster } from './dry-run.ts';
import { openTransport } from './kube/client.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { watchCluster } from './kube/watch-cluster.ts';
import { type Result, succeed } from './model/result.ts';
import { createLogger } from './observe/logger.ts';
import { BoundedFrequencyRunner } from './queue/bounded-frequency-runner.ts';
import { systemClock } from './queue/clock.ts';
import { DueRequests } from './queue/due-requests.ts';
import { QueueMetrics } from './queue/queue-metrics.ts';
import { ServiceQueue } from './queue/service-queue.ts';
import { Recorder } from './replay/recorder.ts';
import { ChangeIntake } from './sync/change-intake.ts';
import { PassLoop } from './sync/pass-loop.ts';
import { PassMetrics } from './sync/pass-metrics.ts';
import { Proxier } from './sync/proxier.ts';

/** Runs on this machine until `stop` resolves, or until there is nothing more to do. */
export async function runDaemon(
  args: RunArguments,
  version: string,
  terminal: Terminal,
  stop: Promise<string>,
): Promise<ExitCode> {
  const config = await readConfig(args.flags, terminal);
  if (!config) return 2;
  const log = createLogger(config.logging);
  for (const notice of config.notices) log.warn(notice);
  if (config.ignoredFlags.length > 0) log.warn({ flags: config.ignoredFlags }, 'flags do not count beside a file');
  const examined = await examineNode(systemHost);
  if (!examined.ok) return giveUp(terminal, examined.error);
  let settings = proxySettings(config, examined.value.randomFully);
  if (args.mode !== 'dry-run') {
    const prepared = await prepare(systemHost, examined.value, { config, settings, log });
    if (!prepared.ok) return giveUp(terminal, prepared.error);
    if (args.mode === 'init-only') return 0;
    settings = prepared.value;
  }
  const transport = openTransport({
    kubeconfig: config.clientConnection.kubeconfig ?? '',
    master: config.master ?? '',
    userAgent: `ipvs-proxier/${version}`,
    clock: systemClock,
  });
  if (!transport.ok) return giveUp(terminal, [`${transport.error.source}: ${transport.error.message}`]);
  const parts = { config, abilities: examined.value, transport: transport.value, nodeName: nodeName(config) };
  try {
    return args.mode === 'dry-run'
      ? await dryRunCluster({ ...parts, host: systemHost, form: args.form, terminal })
      : await serve({ ...parts, settings, log, version, recordTo: args.record }, stop);
  } finally {
    transport.value.close();
  }
}

interface ServeParts {
  readonly config: ProxyConfig;
  readonly abilities: NodeAbilities;
  readonly settings: ProxySettings;
  readonly transport: ApiTransport;
  readonly nodeName: string;
  readonly log: Logger;
  readonly version: string;
  readonly recordTo: string | undefined;
}

async function serve(
  { config, abilities, settings, transport, nodeName, log, version, recordTo }: ServeParts,
  stop: Promise<string>,
): Promise<ExitCode> {
  const nowMs = () => systemClock.nowMs();
  const { families } = abilities;
  const kernel = new Kernel(systemHost, families, nowMs);
  const proxier = new Proxier({ families, nodeName, settings, kernel, nowMs });
  const queueMetrics = new QueueMetrics();
  const runner = new BoundedFrequencyRunner({
    clock: systemClock,
    minIntervalMs: config.minSyncPeriodMs,
    maxIntervalMs: config.syncPeriodMs,
    run: (reasons) => passes.run(reasons),
  });
  const queue = new ServiceQueue({
    clock: systemClock,
    random: Math.random,
    settings: config.queue,
    listener: new DueRequests(systemClock, runner),
    observer: queueMetrics,
  });
  const passes = new PassLoop({
    proxier,
    queue,
    metrics: new PassMetrics(),
    log: log.child({ part: 'sync' }),
    nowMs,
    fullIntervalMs: config.syncPeriodMs,
  });
  const { record } = proxier;
  const intake = new ChangeIntake(record, queue, config.queue.thresholds, queueMetrics);
  const recorder = recordTo === undefined ? undefined : openRecorder(recordTo, log);
  const told = clusterHandler({ record, intake, runner, log: log.child({ part: 'kube' }), nodeName });
  const listed = (late: readonly string[]) => {
    recorder?.listed();
    told.listed(late);
  };
  const watch = watchCluster({
    transport,
    nodeName,
    otherNodes: config.otherNodes,
    handler: { ...told, listed, repeated: () => queueMetrics.drop('same-version') },
    ...(recorder ? { tap: (kind, type, object) => recorder.record(kind, type, object) } : {}),
    clock: systemClock,
    random: Math.random,
  });
  log.info(
    { version, node: nodeName, families, behaviour: settings.behaviour, scheduler: settings.scheduler },
    'started',
  );
  watch.start();
  const why = await Promise.race([stop, runner.finished.then(() => 'the runner ended')]);
  log.info({ why }, 'stopping; what is programmed stays');
  queue.shutDown();
  await withPatience(Promise.all([watch.stop().then(() => recorder?.close()), runner.stop()]));
  return 0;
}

function openRecorder(file: string, log: Logger): Recorder {
  const trouble = (err: string) => log.warn({ err }, 'recording has ended; everything else goes on');
  return new Recorder({ file, clock: systemClock, trouble });
}

/** A pass that runs when the process is told to end may finish within this time. */
const STOP_PATIENCE_MS = 10_000;

/** Waits for the work, but not longer than that. */
async function withPatience(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = systemClock.after(STOP_PATIENCE_MS, () => late.resolve());
  await Promise.race([work, late.promise]);
  cancel();
}

interface PrepareParts {
  readonly config: ProxyConfig;
  readonly settings: ProxySettings;
  readonly log: Logger;
}

/** Makes the node ready for the first pass. Gives the settings with a scheduler that its kernel has. */
async function prepare(
  host: Host,
  { kernelRelease }: NodeAbilities,
  { config, settings, log }: PrepareParts,
): Promise<Result<ProxySettings, NodeTroubles>> {
  const { strictARP: strictArp } = config.ipvs;
  const prepared = await prepareNode(host, kernelRelease, { strictArp, timeouts: config.ipvs, sloppy: config });
  if (!prepared.ok) return prepared;
  for (const warning of prepared.value.warnings) log.warn(warning);
  for (const { path, value } of prepared.value.written) log.info({ path, value }, 'kernel setting changed');
  const { scheduler } = settings;
  const flags = schedulerFlags(scheduler, settings.schedulerFlags);
  const probed = await probeScheduler(host, { scheduler, schedulerFlags: flags });
  if (!probed.ok) return probed;
  const { chosen, warning } = probed.value;
  if (warning !== undefined) log.warn(warning);
  return succeed({ ...settings, ...chosen });
}

function nodeName(config: ProxyConfig): string {
  return config.hostnameOverride ?? hostname().trim().toLowerCase();
}

function giveUp(terminal: Terminal, troubles: readonly string[]): ExitCode {
  for (const trouble of troubles) terminal.error(`error: ${trouble}`);
  return 1;
}
