import type { Logger } from 'pino';
import { type FollowingHost, systemHost } from './apply/host.ts';
import { describeLockError, lockNode } from './apply/node-lock.ts';
import { examineNode } from './apply/prepare-node.ts';
import type { RunArguments } from './cli/arguments.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { type ReadConfig, readEffectiveConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { dryRunCluster } from './dry-run.ts';
import { holdNode } from './hold-node.ts';
import { makeReady, type ReadyNode } from './make-ready.ts';
import { createLogger, verbositySetter } from './observe/logger.ts';
import { Observers } from './observers.ts';
import { openApi } from './open-api.ts';
import { ownNodeName } from './own-node.ts';
import { systemClock } from './queue/clock.ts';
import { serve } from './serve.ts';

/** What the daemon runs on. */
export interface Surroundings {
  readonly host: FollowingHost;
  readonly openLog: typeof createLogger;
  readonly lock: typeof lockNode;
  /** How long what runs when the process is told to end may go on, 9 s. */
  readonly patienceMs?: number;
}

const THIS_MACHINE: Surroundings = { host: systemHost, openLog: createLogger, lock: lockNode };

/** The process itself has 10 s. */
const PATIENCE_MS = 9000;

/** A daemon that is told to end has ended after 10 s. */
const LOCK_PATIENCE_MS = 15_000;

/**
 * Runs on this machine until `stop` resolves, or until there is nothing more to do; whatever is slow at the start, `stop` ends it. The daemon
 * waits for one that is about to end.
 */
export async function runDaemon(
  args: RunArguments,
  version: string,
  terminal: Terminal,
  stop: Promise<string>,
  { host, openLog, lock, patienceMs = PATIENCE_MS }: Surroundings = THIS_MACHINE,
): Promise<ExitCode> {
  const read = await unlessStopped(readEffectiveConfig(args.flags, terminal), stop);
  if (typeof read === 'string') return stoppedEarly(args, terminal, read);
  if (!read) return 2;
  const { config } = read;
  const log = openLog(config.logging);
  for (const notice of config.notices) log.warn(notice);
  if (config.ignoredFlags.length > 0) log.warn({ flags: config.ignoredFlags }, 'flags do not count beside a file');
  const run = () => runConfigured({ args, read, log, version, terminal, stop, host, patienceMs });
  if (args.mode !== 'daemon') return run();
  const waiting = (err: string) => log.warn({ err }, 'waiting for the other one to end');
  const hold = { lock, command: 'run', version, patienceMs: LOCK_PATIENCE_MS, stop, waiting } as const;
  const held = await holdNode(hold, run);
  if (held.ok) return held.value;
  return held.error.kind === 'stopped' ? 0 : giveUp(terminal, [describeLockError(held.error)]);
}

interface ConfiguredRun {
  readonly args: RunArguments;
  readonly read: ReadConfig;
  readonly log: Logger;
  readonly version: string;
  readonly terminal: Terminal;
  readonly stop: Promise<string>;
  readonly host: FollowingHost;
  readonly patienceMs: number;
}

async function runConfigured(given: ConfiguredRun): Promise<ExitCode> {
  const { args, terminal, log, stop } = given;
  const prepared = await unlessStopped(prepare(given), stop);
  if (typeof prepared === 'number') return prepared;
  if (typeof prepared === 'string') return stoppedEarly(args, terminal, prepared, log);
  try {
    const parts = { ...given, ...prepared };
    if (args.mode === 'daemon') return await serve({ ...parts, flags: args.flags, recordTo: args.record }, stop);
    const done = await unlessStopped(dryRunCluster({ ...parts, form: args.form }), stop);
    return typeof done === 'string' ? stoppedEarly(args, terminal, done, log) : done;
  } finally {
    prepared.transport.close();
  }
}

/** Everything before the API server is asked; a status when that is all, or when it cannot go on. */
async function prepare({ args, read, log, version, terminal, host }: ConfiguredRun) {
  const { config } = read;
  const setVerbosity = verbositySetter(log);
  const examined = await examineNode(host);
  if (!examined.ok) return giveUp(terminal, examined.error);
  const abilities = examined.value;
  let ready: ReadyNode = {
    settings: proxySettings(config, abilities.randomFully),
    schedulerWarning: undefined,
    keepSettings: async () => {},
  };
  if (args.mode !== 'dry-run') {
    const made = await makeReady(host, { config, abilities, log });
    if (!made.ok) return giveUp(terminal, made.error);
    if (args.mode === 'init-only') return 0;
    ready = made.value;
  }
  const { families } = abilities;
  const observers = new Observers({
    config,
    families,
    version,
    scheduler: ready.settings.scheduler,
    nowMs: systemClock.nowMs,
    wallMs: Date.now,
  });
  const opened = await openApi(config, version, (message) => log.warn(message), observers.apiRequest);
  if (!opened.ok) return giveUp(terminal, [opened.error]);
  const connected = { transport: opened.value, nodeName: ownNodeName(config), config };
  return { ...connected, ...ready, abilities, families, observers, setVerbosity };
}

/** What the work comes to, or why it is not waited for any longer. */
function unlessStopped<T>(work: Promise<T>, stop: Promise<string>): Promise<T | string> {
  return Promise.race([work, stop]);
}

/** What was asked for was not done, unless it was to run until it is stopped. */
function stoppedEarly({ mode }: RunArguments, terminal: Terminal, why: string, log?: Logger): ExitCode {
  if (mode !== 'daemon') return giveUp(terminal, [`ended by ${why} before it was done`]);
  log?.info({ why }, 'stopping; what is programmed stays');
  return 0;
}

function giveUp(terminal: Terminal, troubles: readonly string[]): ExitCode {
  for (const trouble of troubles) terminal.error(`error: ${trouble}`);
  return 1;
}
