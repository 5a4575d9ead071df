import { writeFile } from 'node:fs/promises';
import { unwritable, writeDocuments } from '../config/effective-documents.ts';
import type { GivenFlags } from './arguments.ts';
import type { ExitCode } from './exit-code.ts';
import { printNotices, readEffectiveConfig } from './read-config.ts';
import type { Terminal } from './terminal.ts';

/** Writes the configuration in force, defaults filled in, to a file that `--config` takes, and does nothing else. */
export async function writeConfig(flags: GivenFlags, path: string, terminal: Terminal): Promise<ExitCode> {
  const read = await readEffectiveConfig(flags, terminal);
  if (!read) return 2;
  printNotices(read.config, terminal);
  try {
    await writeFile(path, writeDocuments(read.documents));
  } catch (error) {
    terminal.error(`error: ${path}: cannot be written: ${(error as NodeJS.ErrnoException).code ?? error}`);
    return 1;
  }
  for (const sentence of unwritable(read.documents, read.config)) terminal.error(`warning: ${sentence}`);
  terminal.error(`note: the configuration was written to ${path}`);
  return 0;
}
