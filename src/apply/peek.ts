import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import { parseSetSizes } from '../kernel/ipset/parse-sizes.ts';
import type { ReadTables } from '../kernel/iptables/state.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { Host } from './host.ts';
import { type ReadError, readTables } from './read-kernel.ts';
import { isThere } from './read-servers.ts';

/** What a short look shows of one family. */
export interface Peek {
  readonly tables: ReadTables;
  readonly setSizes: ReadonlyMap<string, number>;
  readonly lostServer: VirtualServer | undefined;
  readonly hasInterface: boolean;
}

/**
 * Looks at what others are wont to flush: the rules as a whole, of sets how many entries they have, whether the interface and one virtual
 * server are there. Its cost does not grow with the number of Services.
 */
export async function peekKernel(
  host: Host,
  family: Family,
  server: VirtualServer | undefined,
): Promise<Result<Peek, ReadError>> {
  const [tables, sets, interfaces, present] = await Promise.all([
    readTables(host, family),
    host.runTool({ tool: 'ipset', args: ['list', '-t'], timeoutMs: TIMEOUT_MS }),
    host.readText(INTERFACES),
    server ? isThere(host, server) : succeed(true),
  ]);
  if (!tables.ok) return tables;
  if (!sets.ok) return sets;
  if (!interfaces.ok) return interfaces;
  if (!present.ok) return present;
  const setSizes = parseSetSizes(sets.value.stdout);
  if (!setSizes) return fail({ kind: 'not-understood', source: 'ipset list -t' });
  return succeed({
    tables: tables.value,
    setSizes,
    lostServer: present.value ? undefined : server,
    hasInterface: interfaces.value.includes(`${DUMMY_INTERFACE}:`),
  });
}

const TIMEOUT_MS = 30_000;

/** One line for each interface of the network namespace, `NAME: numbers`. */
const INTERFACES = '/proc/net/dev';
