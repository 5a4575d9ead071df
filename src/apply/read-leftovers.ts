import type { Leftovers } from '../cleanup/leftovers.ts';
import { parseAddressShow, parseLinkKind } from '../kernel/dummy/parse.ts';
import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import { ownSets } from '../kernel/ipset/definitions.ts';
import { parseIpsetSave } from '../kernel/ipset/parse.ts';
import { parseEveryTable } from '../kernel/iptables/parse.ts';
import type { EveryTable } from '../kernel/iptables/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import type { Host } from './host.ts';
import { readIpvs } from './read-ipvs.ts';
import { describeReadError, type ReadError, readTool } from './read-kernel.ts';

export interface ReadLeftovers {
  readonly leftovers: Leftovers;
  /** What could not be read, a line each for a person. */
  readonly troubles: readonly string[];
}

/**
 * Reads all that may have to be removed, each part for itself: what cannot be read keeps nothing else from being removed. A kernel without
 * IPVS has no virtual servers. A family without tools has no rules of ours when it has no sets of ours.
 */
export async function readLeftovers(host: Host): Promise<ReadLeftovers> {
  const [ipvs, sets, interfaces, kind, tables] = await Promise.all([
    readServers(host),
    readTool(host, 'ipset', ['save'], parseIpsetSave),
    readTool(host, 'ip', ['-json', 'address', 'show'], parseAddressShow),
    readTool(host, 'ip', ['-json', '-details', 'link', 'show'], (text) => parseLinkKind(text, DUMMY_INTERFACE)),
    readEveryTable(host),
  ]);
  const troubles = [ipvs, sets, interfaces, kind].flatMap((part) => (part.ok ? [] : [describeReadError(part.error)]));
  const mayHaveRules = (family: Family) => !sets.ok || ownSets(family).names.some((name) => sets.value.has(name));
  troubles.push(...describeUnreadable(tables, FAMILIES.filter(mayHaveRules)));
  return {
    leftovers: {
      ipvs: ipvs.ok ? ipvs.value : new Map(),
      sets: sets.ok ? sets.value : new Map(),
      interfaces: interfaces.ok ? interfaces.value : new Map(),
      isDummy: kind.ok && kind.value === 'dummy',
      tables: Object.fromEntries(
        FAMILIES.flatMap((family) => {
          const read = tables[family];
          return read.ok ? [[family, read.value]] : [];
        }),
      ),
    },
    troubles: [...new Set(troubles)],
  };
}

export type ReadFamilies = Readonly<Record<Family, Result<EveryTable, ReadError>>>;

/** The rules of each family, in all of its tables. */
export async function readEveryTable(host: Host): Promise<ReadFamilies> {
  const [IPv4, IPv6] = await Promise.all([
    readTool(host, 'iptables-save', [], parseEveryTable),
    readTool(host, 'ip6tables-save', [], parseEveryTable),
  ]);
  return { IPv4, IPv6 };
}

/** Families whose rules matter and could not be read. A kernel without IPv6 needs no tool for it. */
export async function unreadableRules(host: Host, tables: ReadFamilies): Promise<readonly string[]> {
  const hasIpv6 = await host.readText('/proc/net/if_inet6');
  return describeUnreadable(tables, hasIpv6.ok ? FAMILIES : ['IPv4']);
}

function describeUnreadable(tables: ReadFamilies, families: readonly Family[]): readonly string[] {
  return families.flatMap((family) => {
    const read = tables[family];
    return read.ok ? [] : [`${family} rules stay, with their sets: ${describeReadError(read.error)}`];
  });
}

async function readServers(host: Host): Promise<Result<Leftovers['ipvs'], ReadError>> {
  const present = await host.readText('/proc/net/ip_vs');
  if (!present.ok) return present.error.code === 'ENOENT' ? succeed(new Map()) : present;
  const read = await readIpvs(host);
  if (read.ok) return succeed(read.value.state);
  const hasNone = !/^(?:TCP|UDP|SCTP) /m.test(present.value);
  return read.error.kind === 'tool-missing' && hasNone ? succeed(new Map()) : fail(read.error);
}
