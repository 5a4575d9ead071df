import { dummyOf, parseAddressShow } from '../kernel/dummy/parse.ts';
import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import { parseIpsetSave } from '../kernel/ipset/parse.ts';
import type { IpsetState } from '../kernel/ipset/state.ts';
import { parseTables } from '../kernel/iptables/parse.ts';
import type { ReadTables } from '../kernel/iptables/state.ts';
import { parseProcIpvs } from '../kernel/ipvs/parse-proc.ts';
import { parseIpvsSave } from '../kernel/ipvs/parse-save.ts';
import { type IpvsState, ipvsOfFamily } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import { familyOf } from '../net/ip-address.ts';
import type { Host } from './host.ts';
import { describeToolError, type FileError, type Tool, type ToolError } from './tool.ts';

/** Why the kernel could not be read: a tool or file failed, or it printed what we do not understand. */
export type ReadError = ToolError | FileError | { readonly kind: 'not-understood'; readonly source: string };

/** What the kernel holds, both families together; each part is as old as its last reading. */
export interface Readings {
  readonly ipvs: IpvsState;
  readonly sets: IpsetState;
  readonly interfaces: InterfaceAddresses;
  readonly tables: Readonly<Partial<Record<Family, ReadTables>>>;
  readonly ticksPerSecond: number | undefined;
}

const TIMEOUT_MS = 30_000;

/** Reads everything, the tools side by side. Nothing is changed by it. */
export async function readKernel(host: Host, families: readonly Family[]): Promise<Result<Readings, ReadError>> {
  const [ipvs, sets, interfaces, ...tables] = await Promise.all([
    readIpvs(host, undefined),
    readTool(host, 'ipset', ['save'], parseIpsetSave),
    readInterfaces(host),
    ...families.map((family) => readTables(host, family)),
  ]);
  if (!ipvs.ok) return ipvs;
  if (!sets.ok) return sets;
  if (!interfaces.ok) return interfaces;
  const byFamily: Partial<Record<Family, ReadTables>> = {};
  for (const [index, family] of families.entries()) {
    const table = tables[index];
    if (table && !table.ok) return table;
    if (table) byFamily[family] = table.value;
  }
  return succeed({
    ipvs: ipvs.value.state,
    ticksPerSecond: ipvs.value.ticksPerSecond,
    sets: sets.value,
    interfaces: interfaces.value,
    tables: byFamily,
  });
}

/** Virtual servers, and what was learnt on the way of the kernel that holds them. */
export interface IpvsReading {
  readonly state: IpvsState;
  /** Unknown until a persistent virtual server was seen. */
  readonly ticksPerSecond: number | undefined;
}

/**
 * Reads the virtual servers without starting a process. `ipvsadm` is asked only for what the file does not tell: the flags of schedulers
 * that have some, and once how long a tick of the kernel is.
 */
export async function readIpvs(host: Host, ticksPerSecond: number | undefined): Promise<Result<IpvsReading, ReadError>> {
  const text = await host.readText(PROC_IPVS);
  if (!text.ok) return text;
  const inTicks = parseProcIpvs(text.value);
  if (!inTicks) return fail({ kind: 'not-understood', source: PROC_IPVS });
  const servers = [...inTicks.values()];
  const lacksFlags = servers.some(({ scheduler }) => SCHEDULERS_WITH_FLAGS.has(scheduler));
  const lacksTicks = ticksPerSecond === undefined && servers.some(({ persistenceSeconds }) => persistenceSeconds > 0);
  if (!lacksFlags && !lacksTicks) return succeed({ state: inSeconds(inTicks, ticksPerSecond), ticksPerSecond });
  const saved = await readTool(host, 'ipvsadm', ['-Sn'], parseIpvsSave);
  if (!saved.ok) return saved;
  const ticks = ticksPerSecond ?? learnTicks(inTicks, saved.value);
  const withFlags = [...inSeconds(inTicks, ticks)].map(([key, server]) => {
    return [key, { ...server, schedulerFlags: saved.value.get(key)?.schedulerFlags }] as const;
  });
  return succeed({ state: new Map(withFlags), ticksPerSecond: ticks });
}

function inSeconds(inTicks: IpvsState, ticksPerSecond: number | undefined): IpvsState {
  if (ticksPerSecond === undefined) return inTicks;
  const converted = [...inTicks].map(([key, server]) => {
    return [key, { ...server, persistenceSeconds: server.persistenceSeconds / ticksPerSecond }] as const;
  });
  return new Map(converted);
}

/** From a virtual server whose persistence is known both ways. */
function learnTicks(inTicks: IpvsState, saved: IpvsState): number | undefined {
  for (const [key, { persistenceSeconds: ticks }] of inTicks) {
    const seconds = saved.get(key)?.persistenceSeconds ?? 0;
    if (ticks > 0 && seconds > 0) return ticks / seconds;
  }
  return undefined;
}

export function readInterfaces(host: Host): Promise<Result<InterfaceAddresses, ReadError>> {
  return readTool(host, 'ip', ['-json', 'address', 'show'], parseAddressShow);
}

/** The part of the readings that concerns one family; `undefined` when its tables were not read. */
export function observedOf(readings: Readings, family: Family): ObservedState | undefined {
  const tables = readings.tables[family];
  if (!tables) return undefined;
  const { exists, addresses } = dummyOf(readings.interfaces);
  return {
    family,
    ipvs: ipvsOfFamily(readings.ipvs, family),
    sets: readings.sets,
    dummy: { exists, addresses: new Set([...addresses].filter((address) => familyOf(address) === family)) },
    tables,
  };
}

/** The readings after a family has become `after`. */
export function withObserved(readings: Readings, after: ObservedState): Readings {
  const { family } = after;
  const otherServers = [...readings.ipvs].filter(([, { address }]) => familyOf(address) !== family);
  const bound = readings.interfaces.get(DUMMY_INTERFACE) ?? [];
  const otherAddresses = bound.filter(({ address }) => familyOf(address) !== family);
  const ownAddresses = [...after.dummy.addresses].map((address) => ({
    address,
    prefixLength: family === 'IPv4' ? 32 : 128,
  }));
  return {
    ipvs: new Map([...otherServers, ...after.ipvs]),
    ticksPerSecond: readings.ticksPerSecond,
    sets: after.sets,
    interfaces: after.dummy.exists
      ? new Map(readings.interfaces).set(DUMMY_INTERFACE, [...otherAddresses, ...ownAddresses])
      : readings.interfaces,
    tables: { ...readings.tables, [family]: after.tables },
  };
}

export function describeReadError(error: ReadError): string {
  return error.kind === 'not-understood'
    ? `${error.source} printed something that is not understood; nothing was changed`
    : describeToolError(error);
}

const PROC_IPVS = '/proc/net/ip_vs';
const SCHEDULERS_WITH_FLAGS: ReadonlySet<string> = new Set(['sh', 'mh']);

function readTables(host: Host, family: Family): Promise<Result<ReadTables, ReadError>> {
  return readTool(host, family === 'IPv4' ? 'iptables-save' : 'ip6tables-save', [], parseTables);
}

async function readTool<T>(
  host: Host,
  tool: Tool,
  args: readonly string[],
  parse: (text: string) => T | undefined,
): Promise<Result<T, ReadError>> {
  const output = await host.runTool({ tool, args, timeoutMs: TIMEOUT_MS });
  if (!output.ok) return output;
  const parsed = parse(output.value.stdout);
  return parsed === undefined ? fail({ kind: 'not-understood', source: `${tool} ${args.join(' ')}` }) : succeed(parsed);
}
