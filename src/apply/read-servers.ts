import { parseIpvsList } from '../kernel/ipvs/parse-list.ts';
import {
  type IpvsState,
  type RealServer,
  type RealServerKey,
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
  const listed = servers.length * WORTH_A_PROCESS < among ? succeed(NONE_LISTED) : await readAll(host);
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
  const realServers = new Map<RealServerKey, RealServer>();
  for (const [key, real] of server.realServers) {
    const connections = read.realServers.get(key)?.connections;
    if (connections === undefined) return undefined;
    realServers.set(key, { ...real, connections });
  }
  return { ...server, realServers };
}
