import { dummyOf, parseAddressShow } from '../kernel/dummy/parse.ts';
import { parseIpsetSave } from '../kernel/ipset/parse.ts';
import type { IpsetState } from '../kernel/ipset/state.ts';
import { parseTables } from '../kernel/iptables/parse.ts';
import type { ReadTables } from '../kernel/iptables/state.ts';
import { ipvsOfFamily } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import { familyOf } from '../net/ip-address.ts';
import type { Host } from './host.ts';
import { hasSchedulerFlags, type IpvsReading, readIpvs, rereadIpvs } from './read-ipvs.ts';
import type { ServerReadError } from './read-servers.ts';
import { describeToolError, type Tool } from './tool.ts';

/** Why the kernel could not be read: a tool or file failed, or it printed what we do not understand. */
export type ReadError = ServerReadError | { readonly kind: 'family-not-read'; readonly family: Family };

/** What the kernel holds, both families together; each part is as old as its last reading. */
export interface Readings {
  readonly ipvs: IpvsReading;
  readonly sets: IpsetState;
  readonly interfaces: InterfaceAddresses;
  /** A family whose rules cannot be read does not keep the other one from being programmed. */
  readonly tables: Readonly<Partial<Record<Family, Result<ReadTables, ReadError>>>>;
}

const TIMEOUT_MS = 30_000;

/**
 * Reads everything, the tools side by side. Nothing is changed by it. Where virtual servers are known from before, they are read the cheap
 * way as long as that tells all that matters.
 */
export async function readKernel(
  host: Host,
  families: readonly Family[],
  known: IpvsReading | undefined,
): Promise<Result<Readings, ReadError>> {
  const [ipvs, sets, interfaces, ...tables] = await Promise.all([
    known && !hasSchedulerFlags(known.state) ? rereadIpvs(host, known) : readIpvs(host),
    readTool(host, 'ipset', ['save'], parseIpsetSave),
    readInterfaces(host),
    ...families.map((family) => readTables(host, family)),
  ]);
  if (!ipvs.ok) return ipvs;
  if (!sets.ok) return sets;
  if (!interfaces.ok) return interfaces;
  const byFamily = Object.fromEntries(families.map((family, index) => [family, tables[index]]));
  return succeed({ ipvs: ipvs.value, sets: sets.value, interfaces: interfaces.value, tables: byFamily });
}

export function readInterfaces(host: Host): Promise<Result<InterfaceAddresses, ReadError>> {
  return readTool(host, 'ip', ['-json', 'address', 'show'], parseAddressShow);
}

/** The part of the readings that concerns one family, or why its rules could not be read. */
export function observedOf(readings: Readings, family: Family): Result<ObservedState, ReadError> {
  const tables = readings.tables[family];
  if (!tables) return fail({ kind: 'family-not-read', family });
  if (!tables.ok) return tables;
  const { exists, addresses } = dummyOf(readings.interfaces);
  return succeed({
    family,
    ipvs: ipvsOfFamily(readings.ipvs.state, family),
    sets: readings.sets,
    dummy: { exists, addresses: new Set([...addresses].filter((address) => familyOf(address) === family)) },
    tables: tables.value,
  });
}

export function describeReadError(error: ReadError): string {
  switch (error.kind) {
    case 'not-understood':
      return `${error.source} printed something that is not understood; nothing was changed`;
    case 'family-not-read':
      return `${error.family} is not programmed on this node`;
    case 'changed-by-others':
      return `virtual server ${error.server} was changed by somebody else`;
    default:
      return describeToolError(error);
  }
}

export function readTables(host: Host, family: Family): Promise<Result<ReadTables, ReadError>> {
  return readTool(host, family === 'IPv4' ? 'iptables-save' : 'ip6tables-save', [], parseTables);
}

/** What a tool prints, understood. */
export async function readTool<T>(
  host: Host,
  tool: Tool,
  args: readonly string[],
  parse: (text: string) => T | undefined,
): Promise<Result<T, ReadError>> {
  const output = await host.runTool({ tool, args, timeoutMs: TIMEOUT_MS });
  if (!output.ok) return output;
  const parsed = parse(output.value.stdout);
  return parsed === undefined ? fail({ kind: 'not-understood', source: [tool, ...args].join(' ') }) : succeed(parsed);
}
