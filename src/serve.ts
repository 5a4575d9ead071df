import type { Logger } from 'pino';
import { AddressMonitor } from './apply/address-monitor.ts';
import type { FollowingHost } from './apply/host.ts';
import { buildProgramming, type ProgrammingParts } from './build-programming.ts';
import type { ExitCode } from './cli/exit-code.ts';
import type { ReadConfig } from './cli/read-config.ts';
import { ConfigReload } from './config-reload.ts';
import { followCluster } from './follow-cluster.ts';
import type { PassRunner } from './observers.ts';
import { systemClock } from './queue/clock.ts';

export interface ServeParts extends Omit<ProgrammingParts, 'serviceUid'> {
  readonly read: ReadConfig;
  readonly host: FollowingHost;
  /** Of a scheduler that the kernel lacks. */
  readonly schedulerWarning: string | undefined;
  /** How long a pass that runs when the process is told to end may go on. */
  readonly patienceMs: number;
  /** File for a trace of what the cluster tells. */
  readonly recordTo: string | undefined;
}

/** Programs the node until `stop` resolves, the configuration changes, or the own Node does not come. What is programmed stays. */
export async function serve(parts: ServeParts, stop: Promise<string>): Promise<ExitCode> {
  const { settings, families, nodeName, log, version, host } = parts;
  const programming = buildProgramming({ ...parts, serviceUid: (service) => cluster.watch.serviceUid(service) });
  const { canary, events, serving, runner } = programming;
  const nodeMissing = Promise.withResolvers<string>();
  const cluster = followCluster({ ...parts, ...programming, nodeMissing: nodeMissing.resolve });
  const addresses = followAddresses(host, runner, log);
  const reconfigured = Promise.withResolvers<string>();
  const reload = new ConfigReload({ ...parts, clock: systemClock, restart: reconfigured.resolve });
  log.info(
    { version, node: nodeName, families, behaviour: settings.behaviour, scheduler: settings.scheduler },
    'started',
  );
  const listening = await serving.start();
  if (!listening.ok) {
    log.error({ err: listening.error.message }, 'ending, as bindAddressHardFail is set');
    events.serverFailed(listening.error);
    await withPatience(EVENT_PATIENCE_MS, programming.eventsStored());
    programming.close();
    await serving.stop();
    return 1;
  }
  addresses.start();
  canary.start();
  reload.start();
  cluster.watch.start();
  events.started(version);
  if (parts.schedulerWarning !== undefined) events.schedulerReplaced(parts.schedulerWarning);
  const { why, exitCode } = await Promise.race([
    ending(0, stop),
    ending(0, reconfigured.promise),
    ending(
      0,
      programming.finished.then(() => 'the runner ended'),
    ),
    ending(1, nodeMissing.promise),
  ]);
  log[exitCode === 0 ? 'info' : 'error']({ why }, 'stopping; what is programmed stays');
  programming.close();
  cluster.close();
  await withPatience(
    parts.patienceMs,
    Promise.all([reload.stop(), cluster.stop(), programming.stop(), addresses.stop(), canary.stop(), serving.stop()]),
  );
  return exitCode;
}

/** For the Event that tells why the process ends. */
const EVENT_PATIENCE_MS = 2000;

async function ending(exitCode: ExitCode, happened: Promise<string>): Promise<{ why: string; exitCode: ExitCode }> {
  return { why: await happened, exitCode };
}

/** Asks for a full pass when the node's own addresses change. */
function followAddresses(host: FollowingHost, runner: Pick<PassRunner, 'request'>, log: Logger): AddressMonitor {
  return new AddressMonitor({
    host,
    clock: systemClock,
    changed: () => runner.request('addresses'),
    trouble: (err) => log.warn({ err }, 'changes of addresses are noticed in full passes only'),
    recovered: () => log.info('changes of addresses are noticed at once again'),
  });
}

/** Waits for the work, but not longer than that. */
async function withPatience(patienceMs: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = systemClock.after(patienceMs, () => late.resolve());
  await Promise.race([work, late.promise]);
  cancel();
}
