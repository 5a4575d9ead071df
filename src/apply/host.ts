import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { fail, type Result, succeed } from '../model/result.ts';
import { scriptInput } from './script-input.ts';
import type { FileError, Tool, ToolCall, ToolError, ToolOutput } from './tool.ts';

/** The machine that is programmed: its tools and the files of its kernel. Tests put a kernel in memory, or a namespace, in its place. */
export interface Host {
  runTool(call: ToolCall): Promise<Result<ToolOutput, ToolError>>;
  /** `path` is absolute, e.g. `/proc/net/ip_vs`. */
  readText(path: string): Promise<Result<string, FileError>>;
  writeText(path: string, text: string): Promise<Result<void, FileError>>;
}

/** A machine whose folders can be listed too. */
export interface FolderHost extends Host {
  /** Names in a folder, in no order. */
  listFolder(path: string): Promise<Result<readonly string[], FileError>>;
}

/** A machine that also runs tools which go on until they are stopped. */
export interface FollowingHost extends Host {
  /** Starts such a tool, and hands on each line that it prints, on whichever output. */
  followTool(call: FollowCall, onLine: (line: string) => void): FollowedTool;
}

/** One start of a tool that goes on; no shell is ever involved. */
export interface FollowCall {
  readonly tool: Tool;
  readonly args: readonly string[];
}

/** A tool that goes on. */
export interface FollowedTool {
  /** Settles when it has ended, with the reason unless it was stopped; never rejects. Status 0 is a reason too. */
  readonly ended: Promise<ToolError | undefined>;
  /** Kills it; harmless when it has ended. */
  stop(): void;
}

/** This machine, in the network namespace of this process. */
export const systemHost: FollowingHost & FolderHost = {
  runTool: (call) => runProcess(call, []),
  readText: async (path) => fileResult(path, () => readFile(path, 'utf8')),
  writeText: async (path, text) => fileResult(path, () => writeFile(path, text)),
  listFolder: async (path) => fileResult(path, () => readdir(path)),
  followTool: (call, onLine) => followProcess(call, [], onLine),
};

/**
 * Starts a tool, behind `prefix` if there is one, feeds it and waits for its end. A status other than 0 is a refusal. So is anything that
 * `ipvsadm` prints on stderr: its status tells only of the last line it read. It is killed when its time is over, and with this process.
 * Its script is written whole before it starts: one that was cut in the middle of a line would be another script. Most changes of a Service
 * are one such start, and Node's own way of it takes two thirds of the time that execa's does.
 */
export async function runProcess(call: ToolCall, prefix: readonly string[]): Promise<Result<ToolOutput, ToolError>> {
  const { tool, timeoutMs, input = '' } = call;
  const script = input === '' ? undefined : scriptInput(input);
  if (input !== '' && script === undefined) return fail(refusal(call, -1, 'no folder takes its script'));
  const { code, signal, isLate, stdout, stderr } = await runToEnd(call, prefix, script);
  if (code === 'ENOENT') return fail({ kind: 'tool-missing', tool });
  if (typeof code === 'string') return fail(refusal(call, -1, `it could not be started: ${code}`));
  if (isLate) return fail({ kind: 'tool-timeout', tool, afterMs: timeoutMs });
  if (code === null) return fail(refusal(call, -1, `ended by ${signal ?? 'an unknown fault'}`));
  if (code !== 0 || (tool === 'ipvsadm' && stderr.trim() !== '')) return fail(refusal(call, code, stderr));
  return succeed({ stdout, stderr });
}

interface Ended {
  /** Its status, or the system's code when it did not come to one; `null` after a signal. */
  readonly code: number | string | null;
  readonly signal: NodeJS.Signals | null;
  /** It was killed as its time was over. */
  readonly isLate: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** `script`: what it reads, closed here; nothing when absent. */
function runToEnd(
  { tool, args, timeoutMs }: ToolCall,
  prefix: readonly string[],
  script: number | undefined,
): Promise<Ended> {
  const [file = tool, ...words] = [...prefix, tool, ...args];
  return new Promise((resolve) => {
    const child = spawnOrCode(file, words, script);
    if (script !== undefined) closeSync(script);
    if (typeof child === 'string') {
      resolve({ code: child, signal: null, isLate: false, stdout: '', stderr: '' });
      return;
    }
    let isLate = false;
    const kill = (): boolean => child.kill('SIGKILL');
    const late = setTimeout(() => {
      isLate = kill();
      // What it has started may live on, and hold them open.
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, timeoutMs);
    process.on('exit', kill);
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
    const end = (code: Ended['code'], signal: Ended['signal']): void => {
      clearTimeout(late);
      process.off('exit', kill);
      resolve({ code, signal, isLate, stdout: stdout(), stderr: stderr() });
    };
    child.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message, null));
    child.once('close', end);
  });
}

/** The system's code where it starts no process. Node tells of some of them by an event, and throws others, e.g. `ENOMEM`. */
function spawnOrCode(file: string, words: readonly string[], script: number | undefined) {
  try {
    return spawn(file, words, { stdio: [script ?? 'ignore', 'pipe', 'pipe'], env: { ...process.env, LC_ALL: 'C' } });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** What a stream gives, once it has ended; there is none where the process could not be started. */
function textOf(stream: Readable | null | undefined): () => string {
  const parts: Buffer[] = [];
  stream?.on('data', (part: Buffer) => parts.push(part));
  return () => Buffer.concat(parts).toString();
}

/** Starts a tool that goes on, behind `prefix` if there is one. It is killed with this process. */
export function followProcess(
  { tool, args }: FollowCall,
  prefix: readonly string[],
  onLine: (line: string) => void,
): FollowedTool {
  const [file = tool, ...words] = [...prefix, tool, ...args];
  const running = execa(file, words, { stdin: 'ignore', buffer: false, reject: false, env: { LC_ALL: 'C' } });
  let stopped = false;
  let last = '';
  const hear = async (from: 'stdout' | 'stderr'): Promise<void> => {
    try {
      for await (const line of running.iterable({ from })) {
        if (from === 'stderr') last = line;
        onLine(line);
      }
    } catch {
      // The output has failed or ended with the process; why, the process itself tells.
    }
  };
  const ended = Promise.all([running, hear('stdout'), hear('stderr')]).then(([{ exitCode, signal, code }]) => {
    if (stopped) return undefined;
    if (exitCode === undefined && code === 'ENOENT') return { kind: 'tool-missing', tool } as const;
    const stderr =
      exitCode === undefined ? `ended by ${signal ?? code ?? 'an unknown fault'}` : last || 'it ended by itself';
    return refusal({ tool, args, timeoutMs: 0 }, exitCode ?? -1, stderr);
  });
  return {
    ended,
    stop: () => {
      stopped = true;
      running.kill();
    },
  };
}

function refusal({ tool, input = '' }: ToolCall, exitCode: number, stderr: string): ToolError {
  return { kind: 'tool-refused', tool, exitCode, stderr, script: input };
}

async function fileResult<T>(path: string, work: () => Promise<T>): Promise<Result<T, FileError>> {
  try {
    return succeed(await work());
  } catch (error) {
    return fail({ kind: 'file-failed', path, code: String((error as NodeJS.ErrnoException).code ?? error) });
  }
}
