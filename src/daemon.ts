import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { AddressMonitor } from './apply/address-monitor.ts';
import { countedHost } from './apply/counted-host.ts';
import { type FollowingHost, type Host, systemHost } from './apply/host.ts';
import { Kernel } from './apply/kernel.ts';
import { adjustOomScore } from './apply/oom-score.ts';
import { examineNode, type NodeAbilities, type NodeTroubles, prepareNode } from './apply/prepare-node.ts';
import { probeScheduler } from './apply/probe-scheduler.ts';
import type { RunArguments } from './cli/command-line.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { type ReadConfig, readEffectiveConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import { clusterHandler } from './cluster-handler.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { ConfigReload } from './config-reload.ts';
import type { HealthCheck } from './desired/health-checks.ts';
import { schedulerFlags } from './desired/scheduler-flags.ts';
import type { ProxySettings } from './desired/settings.ts';
import { dryRunCluster } from './dry-run.ts';
import { openTransport } from './kube/client.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { watchCluster } from './kube/watch-cluster.ts';
import { type Result, succeed } from './model/result.ts';
import { createLogger, verbositySetter } from './observe/logger.ts';
import { Observers } from './observers.ts';
import { OwnNode } from './own-node.ts';
import { eventsInApi } from './pass-events.ts';
import { BoundedFrequencyRunner } from './queue/bounded-frequency-runner.ts';
import { systemClock } from './queue/clock.ts';
import { DueRequests } from './queue/due-requests.ts';
import { ServiceQueue } from './queue/service-queue.ts';
import { Recorder } from './replay/recorder.ts';
import { Serving } from './serving.ts';
import { ChangeIntake } from './sync/change-intake.ts';
import { measuredKernel } from './sync/measured-kernel.ts';
import { PassLoop } from './sync/pass-loop.ts';
import { Proxier } from './sync/proxier.ts';

/** What the daemon runs on. */
export interface Surroundings {
  readonly host: FollowingHost;
  readonly openLog: typeof createLogger;
}

const THIS_MACHINE: Surroundings = { host: systemHost, openLog: createLogger };

/** Runs on this machine until `stop` resolves, or until there is nothing more to do. */
export async function runDaemon(
  args: RunArguments,
  version: string,
  terminal: Terminal,
  stop: Promise<string>,
  { host, openLog }: Surroundings = THIS_MACHINE,
): Promise<ExitCode> {
  const read = await readEffectiveConfig(args.flags, terminal);
  if (!read) return 2;
  const { config } = read;
  const log = openLog(config.logging);
  const setVerbosity = verbositySetter(log);
  for (const notice of config.notices) log.warn(notice);
  if (config.ignoredFlags.length > 0) log.warn({ flags: config.ignoredFlags }, 'flags do not count beside a file');
  const examined = await examineNode(host);
  if (!examined.ok) return giveUp(terminal, examined.error);
  let settings = proxySettings(config, examined.value.randomFully);
  let schedulerWarning: string | undefined;
  if (args.mode !== 'dry-run') {
    const refused = await adjustOomScore(host, config.oomScoreAdj);
    if (refused !== undefined) log.debug(refused);
    const prepared = await prepare(host, examined.value, { config, settings, log });
    if (!prepared.ok) return giveUp(terminal, prepared.error);
    if (args.mode === 'init-only') return 0;
    settings = prepared.value.settings;
    schedulerWarning = prepared.value.schedulerWarning;
  }
  const { families } = examined.value;
  const observers = new Observers({ config, families, version, nowMs: systemClock.nowMs, wallMs: Date.now });
  const transport = openTransport({
    kubeconfig: config.clientConnection.kubeconfig ?? '',
    master: config.master ?? '',
    userAgent: `ipvs-proxier/${version}`,
    otherServers: config.apiServers,
    limits: config.clientConnection,
    clock: systemClock,
    observe: observers.apiRequest,
  });
  if (!transport.ok) return giveUp(terminal, [`${transport.error.source}: ${transport.error.message}`]);
  const parts = {
    config,
    read,
    host,
    abilities: examined.value,
    transport: transport.value,
    nodeName: nodeName(config),
  };
  try {
    return args.mode === 'dry-run'
      ? await dryRunCluster({ ...parts, form: args.form, terminal })
      : await serve(
          {
            ...parts,
            settings,
            schedulerWarning,
            log,
            version,
            flags: args.flags,
            observers,
            setVerbosity,
            recordTo: args.record,
          },
          stop,
        );
  } finally {
    transport.value.close();
  }
}

interface ServeParts {
  readonly config: ProxyConfig;
  readonly read: ReadConfig;
  readonly host: FollowingHost;
  readonly abilities: NodeAbilities;
  readonly settings: ProxySettings;
  /** Of a scheduler that the kernel lacks. */
  readonly schedulerWarning: string | undefined;
  readonly transport: ApiTransport;
  readonly nodeName: string;
  readonly log: Logger;
  readonly version: string;
  readonly flags: RunArguments['flags'];
  readonly observers: Observers;
  readonly setVerbosity: (verbosity: number) => void;
  readonly recordTo: string | undefined;
}

async function serve(parts: ServeParts, stop: Promise<string>): Promise<ExitCode> {
  const { config, abilities, settings, transport, nodeName, log, version, observers, recordTo } = parts;
  const { nowMs } = systemClock;
  const { families } = abilities;
  const host = countedHost(parts.host, nowMs, (call) => observers.called(call));
  const kernel = measuredKernel(new Kernel(host, families, nowMs), nowMs, observers.kubeProxy.flowsCleared);
  const proxier = new Proxier({ families, nodeName, settings, kernel, nowMs });
  const boundedRunner = new BoundedFrequencyRunner({
    clock: systemClock,
    minIntervalMs: config.minSyncPeriodMs,
    maxIntervalMs: config.syncPeriodMs,
    run: (reasons) => {
      observers.passStarted();
      return passes.run(reasons);
    },
  });
  const runner = observers.runner(boundedRunner);
  const queue = new ServiceQueue({
    clock: systemClock,
    random: Math.random,
    settings: config.queue,
    listener: new DueRequests(systemClock, runner),
    observer: observers.queueObserver,
  });
  const { record } = proxier;
  observers.attach({ record, queue });
  const { events, stop: stopEvents } = eventsInApi({
    transport,
    clock: systemClock,
    nodeName,
    log: log.child({ part: 'kube' }),
    serviceUid: (service) => watch.serviceUid(service),
  });
  const healthCheckFailed = (check: HealthCheck, message: string) => events.healthPortFailed(check, message);
  const serving = new Serving({
    ...parts,
    healthCheckFailed,
    families,
    proxier,
    host,
    clock: systemClock,
    wallMs: Date.now,
  });
  const metrics = {
    ran: (...ran: Parameters<Observers['passed']>) => {
      observers.passed(...ran);
      events.passed(ran[0]);
      void serving.passed(ran[0]);
    },
  };
  const passes = new PassLoop({
    proxier,
    queue: events.queue(queue),
    metrics,
    log: log.child({ part: 'sync' }),
    nowMs,
    fullIntervalMs: config.syncPeriodMs,
  });
  const intake = observers.intake(new ChangeIntake(record, queue, config.queue.thresholds, observers.queueMetrics));
  const nodeMissing = Promise.withResolvers<string>();
  const ownNode = new OwnNode({
    clock: systemClock,
    nodeName,
    needsPodRanges: config.detectLocal.mode === 'NodeCIDR',
    log,
    ready: () => {
      runner.request('start');
      runner.start();
    },
    gaveUp: nodeMissing.resolve,
  });
  const addresses = followAddresses(parts.host, runner, log);
  const reconfigured = Promise.withResolvers<string>();
  const reload = new ConfigReload({ ...parts, clock: systemClock, restart: reconfigured.resolve });
  const recorder = recordTo === undefined ? undefined : openRecorder(recordTo, log);
  const told = observers.handler(
    clusterHandler({ record, intake, runner, ownNode, log: log.child({ part: 'kube' }), nodeName }),
  );
  const handler = {
    ...told,
    listed: (late: readonly string[]) => {
      recorder?.listed();
      told.listed(late);
    },
    repeated: () => observers.queueMetrics.drop('same-version'),
  };
  const { otherNodes } = config;
  const pace = { clock: systemClock, random: Math.random, resyncMs: config.configSyncPeriodMs };
  const watch = watchCluster({
    transport,
    nodeName,
    otherNodes,
    handler,
    ...pace,
    ...(recorder ? { tap: (kind, type, object) => recorder.record(kind, type, object) } : {}),
  });
  log.info(
    { version, node: nodeName, families, behaviour: settings.behaviour, scheduler: settings.scheduler },
    'started',
  );
  const listening = await serving.start();
  if (!listening.ok) {
    log.error({ err: listening.error }, 'ending, as bindAddressHardFail is set');
    await serving.stop();
    return 1;
  }
  addresses.start();
  reload.start();
  watch.start();
  events.started(version);
  if (parts.schedulerWarning !== undefined) events.schedulerReplaced(parts.schedulerWarning);
  const failed = nodeMissing.promise.then((why) => ({ why, exitCode: 1 as const }));
  const done = Promise.race([stop, reconfigured.promise, boundedRunner.finished.then(() => 'the runner ended')]).then(
    (why) => ({
      why,
      exitCode: 0 as const,
    }),
  );
  const { why, exitCode } = await Promise.race([done, failed]);
  log[exitCode === 0 ? 'info' : 'error']({ why }, 'stopping; what is programmed stays');
  queue.shutDown();
  stopEvents();
  ownNode.stop();
  await reload.stop();
  await withPatience(
    Promise.all([watch.stop().then(() => recorder?.close()), boundedRunner.stop(), addresses.stop(), serving.stop()]),
  );
  return exitCode;
}

/** Asks for a full pass when the node's own addresses change. */
function followAddresses(
  host: FollowingHost,
  runner: Pick<BoundedFrequencyRunner, 'request'>,
  log: Logger,
): AddressMonitor {
  return new AddressMonitor({
    host,
    clock: systemClock,
    changed: () => runner.request('addresses'),
    trouble: (err) => log.warn({ err }, 'changes of addresses are noticed in full passes only'),
    recovered: () => log.info('changes of addresses are noticed at once again'),
  });
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
): Promise<Result<{ settings: ProxySettings; schedulerWarning: string | undefined }, NodeTroubles>> {
  const { ipvs, conntrack } = config;
  const wanted = { strictArp: ipvs.strictARP, timeouts: ipvs, sloppy: config, conntrack };
  const prepared = await prepareNode(host, kernelRelease, wanted);
  if (!prepared.ok) return prepared;
  for (const warning of prepared.value.warnings) log.warn(warning);
  for (const { path, value } of prepared.value.written) log.info({ path, value }, 'kernel setting changed');
  const { scheduler } = settings;
  const flags = schedulerFlags(scheduler, settings.schedulerFlags);
  const probed = await probeScheduler(host, { scheduler, schedulerFlags: flags });
  if (!probed.ok) return probed;
  const { chosen, warning } = probed.value;
  if (warning !== undefined) log.warn(warning);
  return succeed({ settings: { ...settings, ...chosen }, schedulerWarning: warning });
}

function nodeName(config: ProxyConfig): string {
  return config.hostnameOverride ?? hostname().trim().toLowerCase();
}

function giveUp(terminal: Terminal, troubles: readonly string[]): ExitCode {
  for (const trouble of troubles) terminal.error(`error: ${trouble}`);
  return 1;
}
