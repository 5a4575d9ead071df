import { blocksOf } from '../kernel/ipvs/listing.ts';
import { parseIpvsBlock, parseIpvsList } from '../kernel/ipvs/parse-list.ts';
import { realFinder } from '../kernel/ipvs/real-servers.ts';
import { type IpvsState, type VirtualServer, type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import type { FileError, ToolError } from './tool.ts';

/** Virtual servers of both families, and what was learnt on the way of the kernel that holds them. */
export interface IpvsReading {
  readonly state: IpvsState;
  /** How many kernel ticks make a second; unknown until a persistent virtual server was seen. */
  readonly ticksPerSecond: number | undefined;
  /** Virtual servers by the part of the file that told of each when it was read last; where that is the same, so are they. */
  readonly blocks?: ReadonlyMap<string, VirtualServer>;
}

export type IpvsReadError = ToolError | FileError | { readonly kind: 'not-understood'; readonly source: string };

/** Reads everything the kernel has, in one process. */
export async function readIpvs(host: Host): Promise<Result<IpvsReading, IpvsReadError>> {
  const present = await host.readText(PROC_IPVS);
  if (!present.ok) return present;
  const listed = await host.runTool({ tool: 'ipvsadm', args: ['-Ln'], timeoutMs: 60_000 });
  if (!listed.ok) return listed;
  const state = parseIpvsList(listed.value.stdout, 'list');
  if (!state) return fail({ kind: 'not-understood', source: 'ipvsadm -Ln' });
  const hasPersistent = state.values().some(({ persistenceSeconds }) => persistenceSeconds > 0);
  const inTicks = hasPersistent ? parseIpvsList(present.value, 'proc') : undefined;
  return succeed({ state, ticksPerSecond: inTicks && learnTicks(inTicks, state) });
}

/**
 * Reads anew what is known already, from a file and without starting a process. The file may lack virtual servers, so it counts only when
 * it has every one that is known; it tells no scheduler flags, so those that are known stay. Where that is not enough, the kernel is read
 * as {@link readIpvs} does. What is as it is known stays the same object, and only what the file tells in other words is parsed.
 */
export async function rereadIpvs(host: Host, known: IpvsReading): Promise<Result<IpvsReading, IpvsReadError>> {
  const text = await host.readText(PROC_IPVS);
  if (!text.ok) return text;
  const { ticksPerSecond } = known;
  const state = new Map<VirtualServerKey, VirtualServer>();
  const blocks = new Map<string, VirtualServer>();
  for (const block of blocksOf(text.value)) {
    const remembered = known.blocks?.get(block);
    const read = remembered ?? parseIpvsBlock(block, 'proc');
    if (!read) return fail({ kind: 'not-understood', source: PROC_IPVS });
    if (read === 'not-ours') continue;
    if (!remembered && read.persistenceSeconds > 0 && ticksPerSecond === undefined) return readIpvs(host);
    const key = virtualServerKey(read);
    const before = known.state.get(key);
    const server = remembered ?? completed(read, before, ticksPerSecond);
    // Somebody has edited it, or the ticks were learnt from one that was being edited.
    if (server.persistenceSeconds > 0 && before && server.persistenceSeconds !== before.persistenceSeconds) {
      return readIpvs(host);
    }
    const kept = before && tellsNothingNew(server, before) ? before : server;
    state.set(key, kept);
    blocks.set(block, kept);
  }
  for (const key of known.state.keys()) if (!state.has(key)) return readIpvs(host);
  return succeed({ state, ticksPerSecond, blocks });
}

/** Flags as they are known, and seconds for ticks. */
function completed(
  read: VirtualServer,
  before: VirtualServer | undefined,
  ticksPerSecond: number | undefined,
): VirtualServer {
  const persistenceSeconds = read.persistenceSeconds / (ticksPerSecond ?? 1);
  return { ...read, persistenceSeconds, schedulerFlags: before?.schedulerFlags };
}

/** Connections to a real server that takes new ones say nothing new when nobody has asked for them. */
function tellsNothingNew(read: VirtualServer, before: VirtualServer): boolean {
  if (read === before) return true;
  if (read.scheduler !== before.scheduler || read.persistenceSeconds !== before.persistenceSeconds) return false;
  if (read.realServers.length !== before.realServers.length) return false;
  const knownAt = realFinder(before.realServers);
  for (const real of read.realServers) {
    const known = knownAt(real);
    if (known?.weight !== real.weight || known.forwarding !== real.forwarding) return false;
    const isUnasked = known.connections === undefined && real.weight > 0;
    if (!isUnasked && known.connections !== real.connections) return false;
  }
  return true;
}

/** True when virtual servers are there whose flags only a complete reading tells. */
export function hasSchedulerFlags(state: IpvsState): boolean {
  return [...state.values()].some(({ scheduler }) => SCHEDULERS_WITH_FLAGS.has(scheduler));
}

/** From the virtual servers whose persistence is known both ways. One that was edited between the two readings does not agree with others. */
function learnTicks(inTicks: IpvsState, inSeconds: IpvsState): number | undefined {
  const learnt = new Set<number>();
  for (const [key, { persistenceSeconds: ticks }] of inTicks) {
    const seconds = inSeconds.get(key)?.persistenceSeconds ?? 0;
    if (ticks > 0 && seconds > 0) learnt.add(ticks / seconds);
  }
  const [ticksPerSecond, ...others] = learnt;
  return others.length === 0 ? ticksPerSecond : undefined;
}

export const PROC_IPVS = '/proc/net/ip_vs';
const SCHEDULERS_WITH_FLAGS: ReadonlySet<string> = new Set(['sh', 'mh']);
