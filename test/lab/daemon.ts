import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** How a process ended: exactly one of the two is there. */
export type Exit = { readonly exitCode: number } | { readonly signal: string };

export interface DaemonOptions {
  /** Added to this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export interface Daemon {
  readonly pid: number;
  /** Settles when it has ended, for whatever reason; never rejects. */
  readonly exited: Promise<Exit>;
  /** Both outputs so far, in the order they were written. */
  log(): string;
  /** SIGTERM, and SIGKILL if it has not ended `patienceMs` (default 10 000) later. */
  stop(patienceMs?: number): Promise<Exit>;
  /** SIGKILL. */
  kill(): Promise<Exit>;
}

/** Starts a process that outlives the call. Its input is empty, its outputs go straight into the log file, emptied first. */
export function startDaemon(command: string, args: readonly string[], { env, logFile }: DaemonOptions): Daemon {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'w');
  const started = spawn(command, args, { stdio: ['ignore', log, log], env: { ...process.env, ...env } });
  closeSync(log);
  const { pid } = started;
  if (pid === undefined) throw new Error(`${command} could not be started`);
  const exited = new Promise<Exit>((resolve) => {
    started.once('exit', (exitCode, signal) =>
      resolve(exitCode === null ? { signal: signal ?? 'unknown' } : { exitCode }),
    );
  });

  const end = async (signal: 'SIGTERM' | 'SIGKILL', patienceMs: number): Promise<Exit> => {
    started.kill(signal);
    const late = setTimeout(() => started.kill('SIGKILL'), patienceMs);
    try {
      return await exited;
    } finally {
      clearTimeout(late);
    }
  };
  return {
    pid,
    exited,
    log: () => readFileSync(logFile, 'utf8'),
    stop: (patienceMs = 10_000) => end('SIGTERM', patienceMs),
    kill: () => end('SIGKILL', 10_000),
  };
}
