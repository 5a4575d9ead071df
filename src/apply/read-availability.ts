import type { Availability, Fact } from '../doctor/facts.ts';
import { fail, succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import { describeToolError } from './tool.ts';

/**
 * Whether the kernel has a module, without loading it: it is loaded, or built in, or there is a file of it. `symbol` is a function of the
 * module, which the kernel lists also where it is built in and nothing else tells.
 */
export async function readAvailability(
  host: Host,
  kernelRelease: string,
  module: string,
  symbol: string,
): Promise<Fact<Availability>> {
  if (await isModuleThere(host, module)) return succeed('there');
  const folder = `/lib/modules/${kernelRelease}`;
  const [builtIn, loadable] = await Promise.all(
    ['modules.builtin', 'modules.dep'].map((file) => host.readText(`${folder}/${file}`)),
  );
  const file = new RegExp(`/${module}\\.ko\\b`);
  if (builtIn?.ok && file.test(builtIn.value)) return succeed('there');
  if (loadable?.ok && new RegExp(`^[^:]*${file.source}[^:]*:`, 'm').test(loadable.value)) return succeed('loadable');
  const symbols = await host.readText('/proc/kallsyms');
  if (symbols.ok && new RegExp(`\\s${symbol}\\b`).test(symbols.value)) return succeed('there');
  if (loadable?.ok || (symbols.ok && !(await hasModules(host)))) return succeed('missing');
  return fail(`neither the kernel's list of symbols nor ${folder} has it, and the folder is not complete here`);
}

/** Whether the kernel has it by now, loaded or built in. `symbol` as above. */
async function readIsThere(host: Host, module: string, symbol: string): Promise<Fact<boolean>> {
  if (await isModuleThere(host, module)) return succeed(true);
  const symbols = await host.readText('/proc/kallsyms');
  if (!symbols.ok) return fail(`whether the kernel has ${module} is not known: ${describeToolError(symbols.error)}`);
  return succeed(new RegExp(`\\s${symbol}\\b`).test(symbols.value));
}

/** A loaded module has a folder, and so has one that is built in and has parameters. */
async function isModuleThere(host: Host, module: string): Promise<boolean> {
  const read = await host.readText(`/sys/module/${module}`);
  return read.ok || read.error.code === 'EISDIR';
}

/** A kernel that was built without them has no such file. */
async function hasModules(host: Host): Promise<boolean> {
  const listed = await host.readText('/proc/modules');
  return listed.ok || listed.error.code !== 'ENOENT';
}

/** Rules of nft, built in or loaded. */
export function readHasNftables(host: Host): Promise<Fact<boolean>> {
  return readIsThere(host, 'nf_tables', 'nf_tables_newtable');
}
