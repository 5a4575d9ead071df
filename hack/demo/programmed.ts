import type { Daemon } from '../../test/lab/daemon.ts';
import { readVirtualServers } from '../../test/lab/kernel-state.ts';
import type { Lab } from '../../test/lab/lab.ts';
import { waitFor } from '../../test/lab/wait-for.ts';

/** Addresses of the pods that are to take new connections, behind every virtual server; `undefined`: no virtual server at all. */
export type WantedPods = readonly string[] | undefined;

/**
 * Waits until a node's kernel is as wanted. Gives milliseconds from `sinceMs` (since 1970) to the end of the pass that made it so, by the
 * daemon's own log.
 */
export async function waitProgrammed(
  lab: Lab,
  node: string,
  daemon: Daemon,
  sinceMs: number,
  wanted: WantedPods,
): Promise<number> {
  const read = async () => realServers(await readVirtualServers(lab, node));
  await waitFor(`${node} to be programmed`, read, (servers) => isWanted(servers, wanted), {
    timeoutMs: 60_000,
    everyMs: 50,
  });
  const lastPass = () => passTimes(daemon.log()).findLast((atMs) => atMs >= sinceMs);
  const isOver = (atMs: number | undefined) => atMs !== undefined && Date.now() - atMs >= QUIET_MS;
  return ((await waitFor(`${node} to be quiet`, lastPass, isOver)) ?? sinceMs) - sinceMs;
}

/** Without a further pass for this long a change is over; one change may take two passes. */
const QUIET_MS = 1000;

/** Real servers with a weight, by virtual server. */
function realServers(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const servers = new Map<string, string[]>();
  for (const line of lines) {
    const [command, flag, server, , real = '', , , weight] = line.split(' ');
    const key = `${flag} ${server}`;
    if (command === '-A') servers.set(key, []);
    else if (weight !== '0') servers.get(key)?.push(real.replace(/:\d+$/, '').replace(/[[\]]/g, ''));
  }
  return servers;
}

function isWanted(servers: ReadonlyMap<string, readonly string[]>, wanted: WantedPods): boolean {
  if (wanted === undefined) return servers.size === 0;
  return (
    servers.size > 0 &&
    [...servers].every(([key, reals]) => [...reals].sort().join() === ofFamily(wanted, key.includes('[')).sort().join())
  );
}

function ofFamily(addresses: readonly string[], ipv6: boolean): string[] {
  return addresses.filter((address) => address.includes(':') === ipv6);
}

/** When each pass that changed the kernel had ended. */
function passTimes(log: string): readonly number[] {
  const lines = log.split('\n').filter((line) => line.includes('"node programmed"'));
  return lines.map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
}
