import { hostname } from 'node:os';
import { type FollowingHost, systemHost } from './apply/host.ts';
import { examineNode } from './apply/prepare-node.ts';
import type { RunArguments } from './cli/command-line.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { readEffectiveConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { dryRunCluster } from './dry-run.ts';
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
  const abilities = examined.value;
  let ready: ReadyNode = { settings: proxySettings(config, abilities.randomFully), schedulerWarning: undefined };
  if (args.mode !== 'dry-run') {
    const made = await makeReady(host, { config, abilities, log });
    if (!made.ok) return giveUp(terminal, made.error);
    if (args.mode === 'init-only') return 0;
    ready = made.value;
  }
  const { families } = abilities;
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
  const parts = { config, host, transport: transport.value, nodeName: nodeName(config) };
  try {
    if (args.mode === 'dry-run') return await dryRunCluster({ ...parts, abilities, form: args.form, terminal });
    const { flags, record: recordTo } = args;
    return await serve(
      { ...parts, ...ready, read, families, log, version, flags, observers, setVerbosity, recordTo },
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
