import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type FollowingHost, systemHost } from './apply/host.ts';
import { describeLockError, lockNode } from './apply/node-lock.ts';
import { examineNode } from './apply/prepare-node.ts';
import type { RunArguments } from './cli/command-line.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { type ReadConfig, readEffectiveConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { dryRunCluster } from './dry-run.ts';
import { holdNode } from './hold-node.ts';
import { openTransport } from './kube/client.ts';
import { makeReady, type ReadyNode } from './make-ready.ts';
import { createLogger, verbositySetter } from './observe/logger.ts';
import { Observers } from './observers.ts';
import { systemClock } from './queue/clock.ts';
import { serve } from './serve.ts';

/** What the daemon runs on. */
export interface Surroundings {
  readonly host: FollowingHost;
  readonly openLog: typeof createLogger;
  readonly lock: typeof lockNode;
}

const THIS_MACHINE: Surroundings = { host: systemHost, openLog: createLogger, lock: lockNode };

/** A daemon that is told to end may finish its pass, which takes 10 s at most. */
const LOCK_PATIENCE_MS = 15_000;

/** Runs on this machine until `stop` resolves, or until there is nothing more to do. The daemon waits for one that is about to end. */
export async function runDaemon(
  args: RunArguments,
  version: string,
  terminal: Terminal,
  stop: Promise<string>,
  { host, openLog, lock }: Surroundings = THIS_MACHINE,
): Promise<ExitCode> {
  const read = await readEffectiveConfig(args.flags, terminal);
  if (!read) return 2;
  const { config } = read;
  const log = openLog(config.logging);
  for (const notice of config.notices) log.warn(notice);
  if (config.ignoredFlags.length > 0) log.warn({ flags: config.ignoredFlags }, 'flags do not count beside a file');
  const run = () => runConfigured({ args, read, log, version, terminal, stop, host });
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
}

async function runConfigured(given: ConfiguredRun): Promise<ExitCode> {
  const { args, read, log, version, terminal, stop, host } = given;
  const { config } = read;
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
  const parts = { config, host, transport: transport.value, nodeName: nodeName(config) };
  try {
    if (args.mode === 'dry-run') return await dryRunCluster({ ...parts, abilities, form: args.form, terminal });
    const { flags, record: recordTo } = args;
    return await serve(
      {
        ...parts,
        ...ready,
        read,
        families,
        log,
        version,
        flags,
        observers,
        setVerbosity: verbositySetter(log),
        recordTo,
      },
      stop,
    );
  } finally {
    transport.value.close();
  }
}

function nodeName(config: ProxyConfig): string {
  return config.hostnameOverride ?? hostname().trim().toLowerCase();
}

function giveUp(terminal: Terminal, troubles: readonly string[]): ExitCode {
  for (const trouble of troubles) terminal.error(`error: ${trouble}`);
  return 1;
}
