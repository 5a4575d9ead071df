import { readFile } from 'node:fs/promises';
import { formatConfigError } from '../config/config-error.ts';
import { type EffectiveConfig, loadEffective } from '../config/load.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { ConfigFile } from '../config/read-documents.ts';
import type { GivenFlags } from './arguments.ts';
import type { Terminal } from './terminal.ts';

/** The configuration in force, and the file that it comes from, if any. */
export interface ReadConfig extends EffectiveConfig {
  readonly file: ConfigFile | undefined;
}

/** The configuration in force; `undefined` after everything that is wrong with it was printed, a line each. */
export async function readConfig(flags: GivenFlags, terminal: Terminal): Promise<ProxyConfig | undefined> {
  return (await readEffectiveConfig(flags, terminal))?.config;
}

/** The same with the documents that would give it. */
export async function readEffectiveConfig(flags: GivenFlags, terminal: Terminal): Promise<ReadConfig | undefined> {
  const file = await readFileOf(flags, terminal);
  if (file === 'unreadable') return undefined;
  const loaded = loadEffective({ ...(file ? { file } : {}), flags });
  if (loaded.ok) return { ...loaded.value, file };
  for (const error of loaded.error) terminal.error(`error: ${formatConfigError(error)}`);
  return undefined;
}

/** Tells what the configuration says without an effect; none of it is an error. */
export function printNotices({ ignoredFlags, notices }: ProxyConfig, terminal: Terminal): void {
  const ignored = ignoredFlags.map((name) => `--${name}`).join(', ');
  if (ignored !== '') terminal.error(`note: ${ignored} do not count beside a file`);
  for (const notice of notices) terminal.error(`note: ${notice}`);
}

async function readFileOf(
  { config: name }: GivenFlags,
  terminal: Terminal,
): Promise<ConfigFile | 'unreadable' | undefined> {
  if (typeof name !== 'string' || name === '') return undefined;
  try {
    return { name, text: await readFile(name, 'utf8') };
  } catch (error) {
    terminal.error(`error: ${name}: ${describeReadError(error as NodeJS.ErrnoException)}`);
    return 'unreadable';
  }
}

function describeReadError(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'no such file';
  if (error.code === 'EISDIR') return 'it is a folder';
  return `cannot be read: ${error.code ?? error}`;
}
