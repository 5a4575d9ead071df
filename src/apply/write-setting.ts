import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import type { Host } from './host.ts';

/** What became of a setting: a message when it could not be written. */
export type Written = 'written' | 'as-wanted' | { readonly message: string };

/** Writes a sysctl unless it has the value already. */
export function writeSysctl(host: Host, { path, value }: Pick<SysctlSetting, 'path' | 'value'>): Promise<Written> {
  return writeWhereDifferent(host, `/proc/sys/${path}`, value);
}

/** Writes a file of the kernel unless it has the value already. Without a right to write that is enough. */
export async function writeWhereDifferent(host: Host, file: string, value: string): Promise<Written> {
  const current = await host.readText(file);
  if (current.ok && current.value.trim() === value) return 'as-wanted';
  const done = await host.writeText(file, value);
  return done.ok ? 'written' : { message: `${file} could not be set to ${value}: ${done.error.code}` };
}
