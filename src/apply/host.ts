import { readFile, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import { fail, type Result, succeed } from '../model/result.ts';
import type { FileError, ToolCall, ToolError, ToolOutput } from './tool.ts';

/** The machine that is programmed: its tools and the files of its kernel. Tests put a kernel in memory, or a namespace, in its place. */
export interface Host {
  runTool(call: ToolCall): Promise<Result<ToolOutput, ToolError>>;
  /** `path` is absolute, e.g. `/proc/net/ip_vs`. */
  readText(path: string): Promise<Result<string, FileError>>;
  writeText(path: string, text: string): Promise<Result<void, FileError>>;
}

/** This machine, in the network namespace of this process. */
export const systemHost: Host = {
  runTool: (call) => runProcess(call, []),
  readText: async (path) => fileResult(path, () => readFile(path, 'utf8')),
  writeText: async (path, text) => fileResult(path, () => writeFile(path, text)),
};

/**
 * Starts a tool, behind `prefix` if there is one, feeds it and waits for its end. A status other than 0 is a refusal. So is anything that
 * `ipvsadm` prints on stderr: its status tells only of the last line it read.
 */
export async function runProcess(call: ToolCall, prefix: readonly string[]): Promise<Result<ToolOutput, ToolError>> {
  const { tool, args, input = '', timeoutMs } = call;
  const [file = tool, ...words] = [...prefix, tool, ...args];
  const ended = await execa(file, words, {
    input,
    timeout: timeoutMs,
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 1 << 30,
    env: { LC_ALL: 'C' },
  });
  if (ended.timedOut) return fail({ kind: 'tool-timeout', tool, afterMs: timeoutMs });
  if (ended.exitCode === undefined && ended.signal === undefined) {
    if (ended.code === 'ENOENT') return fail({ kind: 'tool-missing', tool });
    return fail(refusal(call, -1, `${ended.code ?? ''} ${ended.shortMessage ?? ''}`.trim()));
  }
  const { stdout, stderr } = ended;
  if (ended.exitCode === undefined) return fail(refusal(call, -1, `ended by ${ended.signal}`));
  if (ended.exitCode !== 0 || (tool === 'ipvsadm' && stderr.trim() !== '')) {
    return fail(refusal(call, ended.exitCode, stderr));
  }
  return succeed({ stdout, stderr });
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
