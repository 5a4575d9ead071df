import { parseIpvsList } from '../kernel/ipvs/parse-list.ts';
import { realFinder } from '../kernel/ipvs/real-servers.ts';
import {
  type IpvsState,
  type RealServer,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from '../kernel/ipvs/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { formatAddressPort } from '../net/ip-address.ts';
import type { Host } from './host.ts';
import { type IpvsReadError, PROC_IPVS } from './read-ipvs.ts';

export type ServerReadError = IpvsReadError | { readonly kind: 'changed-by-others'; readonly server: VirtualServerKey };

/**
 * The virtual servers given, with the connections that their real servers have now. A few among many are asked for one by one, each in a
 * process; else a file is read that has all of them. An error when one has gone or has lost a real server.
 */
export async function readServers(
  host: Host,
  servers: readonly VirtualServer[],
  among: number,
): Promise<Result<IpvsState, ServerReadError>> {
  const counted = new Map<VirtualServerKey, VirtualServer>();
  if (servers.length === 0) return succeed(counted);
  const listed = await readMany(host, servers, among);
  if (!listed.ok) return listed;
  for (const server of servers) {
    const key = virtualServerKey(server);
    const present = listed.value.get(key);
    const read = present ? succeed(present) : await readOne(host, server);
    if (!read.ok) return read;
    const after = withConnections(server, read.value);
    if (!after) return fail({ kind: 'changed-by-others', server: key });
    counted.set(key, after);
  }
  return succeed(counted);
}

/** As many virtual servers can be read from the file in the time that a process takes to start. */
const WORTH_A_PROCESS = 200;
const NONE_LISTED: IpvsState = new Map();

/** As many of them as can be had at the price of few processes: the file may lack some. */
async function readMany(
  host: Host,
  servers: readonly VirtualServer[],
  among: number,
): Promise<Result<IpvsState, IpvsReadError>> {
  if (servers.length * WORTH_A_PROCESS < among) return succeed(NONE_LISTED);
  const listed = await readAll(host);
  if (!listed.ok) return listed;
  const missing = servers.filter((server) => !listed.value.has(virtualServerKey(server)));
  return missing.length > FEW ? readEvery(host) : listed;
}

/** More are not asked for one by one. */
const FEW = 2;

async function readEvery(host: Host): Promise<Result<IpvsState, IpvsReadError>> {
  const listed = await host.runTool({ tool: 'ipvsadm', args: ['-Ln'], timeoutMs: 60_000 });
  if (!listed.ok) return listed;
  const state = parseIpvsList(listed.value.stdout, 'list');
  return state ? succeed(state) : fail({ kind: 'not-understood', source: 'ipvsadm -Ln' });
}

/** False when the kernel does not have the virtual server. */
export async function isThere(host: Host, server: VirtualServer): Promise<Result<boolean, IpvsReadError>> {
  const read = await readOne(host, server);
  if (read.ok) return succeed(true);
  const { error } = read;
  return error.kind === 'tool-refused' && error.stderr.includes('No such service') ? succeed(false) : read;
}

async function readAll(host: Host): Promise<Result<IpvsState, IpvsReadError>> {
  const text = await host.readText(PROC_IPVS);
  if (!text.ok) return text;
  const state = parseIpvsList(text.value, 'proc');
  return state ? succeed(state) : fail({ kind: 'not-understood', source: PROC_IPVS });
}

async function readOne(host: Host, server: VirtualServer): Promise<Result<VirtualServer, IpvsReadError>> {
  const args = ['-Ln', FLAGS[server.protocol], formatAddressPort(server.address, server.port)];
  const listed = await host.runTool({ tool: 'ipvsadm', args, timeoutMs: 30_000 });
  if (!listed.ok) return listed;
  const [read] = parseIpvsList(listed.value.stdout, 'list')?.values() ?? [];
  return read ? succeed(read) : fail({ kind: 'not-understood', source: `ipvsadm ${args.join(' ')}` });
}

const FLAGS = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' } as const;

function withConnections(server: VirtualServer, read: VirtualServer): VirtualServer | undefined {
  const realServers: RealServer[] = [];
  const readAt = realFinder(read.realServers);
  for (const real of server.realServers) {
    const connections = readAt(real)?.connections;
    if (connections === undefined) return undefined;
    realServers.push({ ...real, connections });
  }
  return { ...server, realServers };
}
