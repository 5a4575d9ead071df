import { cpus } from 'node:os';
import {
  CONNTRACK_HASH_SIZE,
  type ConntrackLimits,
  conntrackMax,
  wantedConntrack,
} from '../kernel/sysctl/conntrack.ts';
import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import { describeToolError } from './tool.ts';
import { writeSysctl, writeWhereDifferent } from './write-setting.ts';

/** What was done to connection tracking; paths are below `/proc/sys/`, or whole. */
export interface ConntrackPreparation {
  readonly written: readonly Pick<SysctlSetting, 'path' | 'value'>[];
  readonly warnings: readonly string[];
}

/**
 * Writes limits and timeouts of connection tracking that differ. One that cannot be written is an error, as in kube-proxy. More buckets
 * only make the table faster, and where they cannot be had it goes on.
 */
export async function prepareConntrack(
  host: Host,
  limits: ConntrackLimits,
): Promise<Result<ConntrackPreparation, readonly string[]>> {
  const count = await countCpus(host);
  const written: ConntrackPreparation['written'][number][] = [];
  const troubles: string[] = [];
  for (const { path, value } of wantedConntrack(limits, count)) {
    const done = await writeSysctl(host, { path, value });
    if (done === 'written') written.push({ path, value });
    else if (done !== 'as-wanted') troubles.push(`${done.message}; ${LEAVE}`);
  }
  if (troubles.length > 0) return fail(troubles);
  const buckets = Math.floor(conntrackMax(limits, count) / 4);
  if (buckets === 0) return succeed({ written, warnings: [] });
  const grown = await growHash(host, buckets);
  if (grown === 'written') written.push({ path: CONNTRACK_HASH_SIZE, value: `${buckets}` });
  const warnings = typeof grown === 'string' ? [] : [`${grown.message}; connection tracking is slower under load`];
  return succeed({ written, warnings });
}

const LEAVE = 'what is 0 in section conntrack of the configuration is left as it is';

async function growHash(host: Host, buckets: number) {
  const current = await host.readText(CONNTRACK_HASH_SIZE);
  if (!current.ok) return { message: describeToolError(current.error) };
  if (Number(current.value) >= buckets) return 'as-wanted';
  return writeWhereDifferent(host, CONNTRACK_HASH_SIZE, `${buckets}`);
}

/** CPUs that are switched on. Which of them this process may use does not count: the table is the machine's. */
export async function countCpus(host: Host): Promise<number> {
  const online = await host.readText('/sys/devices/system/cpu/online');
  return Math.max(1, online.ok ? parseCpuList(online.value) : cpus().length);
}

/** `0-3,8` are five. */
function parseCpuList(text: string): number {
  const ranges = text
    .trim()
    .split(',')
    .map((range) => range.split('-').map(Number));
  const sizes = ranges.map(([first = Number.NaN, last = first]) => last - first + 1);
  return sizes.reduce((sum, size) => sum + (Number.isInteger(size) && size > 0 ? size : 0), 0);
}
