import { prepareNode } from '../../src/apply/prepare-node.ts';
import { fromFile } from '../../src/config/config-fixture.ts';
import { memoryKernel } from '../kernel/memory-kernel.ts';

/** Sysctls by their path under `/proc/sys`, as a start with this configuration leaves a Linux 6.1 that had `before`. */
export async function sysctlsAfterStart(
  configuration: string,
  before: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const host = memoryKernel({});
  for (const [path, value] of Object.entries(before)) host.files.set(`/proc/sys/${path}`, `${value}\n`);
  const { ipvs, ...config } = fromFile(configuration);
  const { conntrack } = config;
  const done = await prepareNode(host, '6.1.0', {
    strictArp: ipvs.strictARP,
    timeouts: ipvs,
    choices: config,
    conntrack,
  });
  if (!done.ok) throw new Error(done.error.join('\n'));
  return Object.fromEntries([...host.files].map(([path, text]) => [path.replace('/proc/sys/', ''), text.trim()]));
}
