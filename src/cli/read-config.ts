import { readFile } from 'node:fs/promises';
import { formatConfigError } from '../config/config-error.ts';
import { loadConfig } from '../config/load.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { GivenFlags } from './command-line.ts';
import type { Terminal } from './terminal.ts';

/** The configuration in force; `undefined` after everything that is wrong with it was printed, a line each. */
export async function readConfig(flags: GivenFlags, terminal: Terminal): Promise<ProxyConfig | undefined> {
  const { config: name } = flags;
  if (typeof name === 'string' && name !== '') {
    const text = await readText(name, terminal);
    return text === undefined ? undefined : checked(loadConfig({ file: { name, text }, flags }), terminal);
  }
  return checked(loadConfig({ flags }), terminal);
}

async function readText(name: string, terminal: Terminal): Promise<string | undefined> {
  try {
    return await readFile(name, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    terminal.error(`error: ${name}: ${code === 'ENOENT' ? 'no such file' : `cannot be read: ${code ?? error}`}`);
    return undefined;
  }
}

function checked(loaded: ReturnType<typeof loadConfig>, terminal: Terminal): ProxyConfig | undefined {
  if (loaded.ok) return loaded.value;
  for (const error of loaded.error) terminal.error(`error: ${formatConfigError(error)}`);
  return undefined;
}
