/**
 * The daemon on a machine in another process, whose tools it does not start but asks for. Prints what it came to and ends.
 *
 * Usage: node --expose-gc test/bench/cold-start-daemon.ts KUBECONFIG, in base64, and the machine's SOCKET
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { FollowingHost } from '../../src/apply/host.ts';
import { runDaemon } from '../../src/daemon.ts';
import { succeed } from '../../src/model/result.ts';
import { askMachine } from './ask-machine.ts';
import { NODE_NAME } from './cluster.ts';
import { collectGarbage } from './measure.ts';

interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

export interface ColdStarted {
  /** Since this process started. */
  readonly syncedMs: number;
  /** Processor time until then, all threads. */
  readonly processorMs: number;
  /** Of scripts for `ipvsadm`. */
  readonly lines: number;
  readonly synced: Memory;
  /** 10 s after. */
  readonly later: Memory;
  readonly collected: Memory;
}

const LATER_MS = 10_000;

await main(process.argv[2] ?? '', process.argv[3] ?? '');

async function main(kubeconfig: string, socket: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cold-start-'));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, Buffer.from(kubeconfig, 'base64'));
  const stop = Promise.withResolvers<string>();
  const programmed = Promise.withResolvers<number>();
  const machine = otherMachine(socket);
  const openLog = () =>
    pino({ level: 'info' }, { write: (line: string) => hear(JSON.parse(line).msg, programmed.resolve) });
  const terminal = {
    output: async () => {},
    error: (line: string) => process.stderr.write(`${line}\n`),
    input: async () => '',
  };
  const ended = runDaemon(
    { flags: await flags(file), mode: 'daemon', form: 'script' },
    'bench',
    terminal,
    stop.promise,
    {
      host: machine.host,
      openLog,
      lock: async () => succeed({ release: async () => {} }),
    },
  );
  const early = ended.then((status) => Promise.reject(new Error(`the daemon ended with status ${status}`)));
  const syncedMs = await Promise.race([programmed.promise, early]);
  early.catch(() => {});
  const { user, system } = process.cpuUsage();
  const synced = memory();
  await sleep(LATER_MS);
  const later = memory();
  collectGarbage();
  const processorMs = (user + system) / 1000;
  const started: ColdStarted = { syncedMs, processorMs, lines: machine.lines(), synced, later, collected: memory() };
  process.stdout.write(`${JSON.stringify(started)}\n`);
  stop.resolve('measured');
  await ended;
  rmSync(folder, { recursive: true });
}

async function flags(kubeconfig: string): Promise<Readonly<Record<string, unknown>>> {
  return {
    kubeconfig,
    'hostname-override': NODE_NAME,
    'healthz-bind-address': `127.0.0.1:${await freePort()}`,
    'metrics-bind-address': `127.0.0.1:${await freePort()}`,
    'ipvs-sync-period': '1h',
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function hear(message: unknown, programmed: (ms: number) => void): void {
  if (message === 'node programmed') programmed(performance.now());
}

/** Counts lines for `ipvsadm`. */
function otherMachine(socket: string): { readonly host: FollowingHost; readonly lines: () => number } {
  let total = 0;
  const host: FollowingHost = {
    runTool: (call) => {
      if (call.tool === 'ipvsadm') total += countLines(call.input ?? '');
      return askMachine(socket, { kind: 'run', call });
    },
    readText: (path) => askMachine(socket, { kind: 'read', path }),
    writeText: (path, text) => askMachine(socket, { kind: 'write', path, text }),
    followTool: () => ({ ended: new Promise(() => {}), stop: () => {} }),
  };
  return { host, lines: () => total };
}

/** Leaves no garbage. */
function countLines(text: string): number {
  let lines = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) lines += 1;
  return lines;
}

function memory(): Memory {
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heapUsed };
}
