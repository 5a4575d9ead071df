import { join } from 'node:path';
import { execa } from 'execa';

const PROGRAM = join(import.meta.dirname, '../../src/main.ts');

export interface Outcome {
  readonly stdout: string;
  /** Lines on stderr. */
  readonly messages: readonly string[];
  readonly exitCode: number | undefined;
}

/** Runs the program as a user does. `path`, when given, is all of PATH. */
export async function runProgram(
  args: readonly string[],
  { input = '', path }: { input?: string; path?: string } = {},
): Promise<Outcome> {
  const { stdout, stderr, exitCode } = await execa(process.execPath, [PROGRAM, ...args], {
    input,
    reject: false,
    stripFinalNewline: false,
    timeout: 30_000,
    ...(path === undefined ? {} : { env: { PATH: path } }),
  });
  return { stdout, messages: stderr.split('\n').filter(Boolean), exitCode };
}
