import { parseIpvsList } from '../kernel/ipvs/parse-list.ts';
import type { IpvsState, VirtualServer } from '../kernel/ipvs/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import type { FileError, ToolError } from './tool.ts';

/** Virtual servers of both families, and what was learnt on the way of the kernel that holds them. */
export interface IpvsReading {
  readonly state: IpvsState;
  /** How many kernel ticks make a second; unknown until a persistent virtual server was seen. */
  readonly ticksPerSecond: number | undefined;
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
  return succeed({ state, ticksPerSecond: learnTicks(parseIpvsList(present.value, 'proc') ?? new Map(), state) });
}

/**
 * Reads anew what is known already, from a file and without starting a process. The file may lack virtual servers, so it counts only when
 * it has every one that is known; it tells no scheduler flags, so those that are known stay. Where that is not enough, the kernel is read
 * as {@link readIpvs} does.
 */
export async function rereadIpvs(host: Host, known: IpvsReading): Promise<Result<IpvsReading, IpvsReadError>> {
  const text = await host.readText(PROC_IPVS);
  if (!text.ok) return text;
  const inTicks = parseIpvsList(text.value, 'proc');
  if (!inTicks) return fail({ kind: 'not-understood', source: PROC_IPVS });
  if ([...known.state.keys()].some((key) => !inTicks.has(key))) return readIpvs(host);
  const ticksPerSecond = known.ticksPerSecond ?? learnTicks(inTicks, known.state);
  const isPersistent = ({ persistenceSeconds }: VirtualServer) => persistenceSeconds > 0;
  if (ticksPerSecond === undefined && [...inTicks.values()].some(isPersistent)) return readIpvs(host);
  const completed = [...inTicks].map(([key, server]) => {
    const persistenceSeconds = server.persistenceSeconds / (ticksPerSecond ?? 1);
    return [key, { ...server, persistenceSeconds, schedulerFlags: known.state.get(key)?.schedulerFlags }] as const;
  });
  return succeed({ state: new Map(completed), ticksPerSecond });
}

/** True when virtual servers are there whose flags only a complete reading tells. */
export function hasSchedulerFlags(state: IpvsState): boolean {
  return [...state.values()].some(({ scheduler }) => SCHEDULERS_WITH_FLAGS.has(scheduler));
}

/** From a virtual server whose persistence is known both ways. */
function learnTicks(inTicks: IpvsState, inSeconds: IpvsState): number | undefined {
  for (const [key, { persistenceSeconds: ticks }] of inTicks) {
    const seconds = inSeconds.get(key)?.persistenceSeconds ?? 0;
    if (ticks > 0 && seconds > 0) return ticks / seconds;
  }
  return undefined;
}

export const PROC_IPVS = '/proc/net/ip_vs';
const SCHEDULERS_WITH_FLAGS: ReadonlySet<string> = new Set(['sh', 'mh']);
