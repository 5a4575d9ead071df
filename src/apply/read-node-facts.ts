import type { Fact, IpvsFacts, NodeFacts } from '../doctor/facts.ts';
import { parseLinks, parseUplinks } from '../kernel/dummy/parse-links.ts';
import { parseConnections } from '../kernel/ipvs/parse-counters.ts';
import { parseIpvsList } from '../kernel/ipvs/parse-list.ts';
import { fail, succeed } from '../model/result.ts';
import type { FolderHost } from './host.ts';
import { readAvailability, readHasNftables } from './read-availability.ts';
import { readBothBackEnds } from './read-both-back-ends.ts';
import { PROC_IPVS } from './read-ipvs.ts';
import { describeReadError, readTool } from './read-kernel.ts';
import { readListening } from './read-listening.ts';
import { readSysctlLines } from './read-sysctl-lines.ts';
import { readToolVersions } from './read-tool-versions.ts';
import { ruleLockWarning } from './rule-lock.ts';
import { describeToolError } from './tool.ts';

/** What is told by others than the machine's tools and files. */
export type OutsideFacts = 'proxier' | 'proxyMode' | 'apiServer';

export interface NodeQuestion {
  readonly kernelRelease: string;
  readonly scheduler: string;
  /** Below `/proc/sys/`. */
  readonly settings: readonly string[];
  /** Such settings of an interface by which default routes leave. */
  readonly settingsOf: (uplink: string) => readonly string[];
}

/** Reads a node and changes nothing: no module is loaded, and nothing is tried. Each part stands for itself. */
export async function readNodeFacts(
  host: FolderHost,
  { kernelRelease, scheduler, settings, settingsOf }: NodeQuestion,
): Promise<Omit<NodeFacts, OutsideFacts>> {
  const ipvs = await readIpvsFacts(host);
  const tools = await readToolVersions(host, ipvs.ok && ipvs.value !== undefined);
  const available = (module: string, symbol: string) => readAvailability(host, kernelRelease, module, symbol);
  const [ipvsModule, schedulerModule, ipv6, rules, ruleLock, nftTables, links, uplinks, sysctlLines, listening] =
    await Promise.all([
      available('ip_vs', 'ip_vs_conn_new'),
      available(`ip_vs_${scheduler}`, `ip_vs_${scheduler}_schedule`),
      host.readText('/proc/net/if_inet6'),
      readBothBackEnds(host, tools),
      ruleLockWarning(host),
      readNftTables(host),
      described(readTool(host, 'ip', ['-json', '-details', 'address', 'show'], parseLinks)),
      readUplinks(host),
      readSysctlLines(host),
      readListening(host),
    ]);
  const paths = [...settings, ...(uplinks.ok ? [...uplinks.value].flatMap(settingsOf) : [])];
  return {
    kernelRelease,
    ipvs,
    ipvsModule,
    schedulerModule,
    hasIpv6: ipv6.ok,
    tools,
    rules,
    ruleLock,
    nftTables,
    links,
    uplinks,
    sysctls: await readSettings(host, paths),
    sysctlLines,
    listening,
  };
}

async function readIpvsFacts(host: FolderHost): Promise<NodeFacts['ipvs']> {
  const text = await host.readText(PROC_IPVS);
  if (!text.ok) return text.error.code === 'ENOENT' ? succeed(undefined) : fail(describeToolError(text.error));
  const servers = parseIpvsList(text.value, 'proc');
  if (!servers) return fail(`${PROC_IPVS} has another form than is known`);
  let connections = 0;
  for (const { values } of parseConnections(text.value)) connections += (values[0] ?? 0) + (values[1] ?? 0);
  return succeed({ servers, connections, tableBits: await readTableBits(host) });
}

async function readTableBits(host: FolderHost): Promise<IpvsFacts['tableBits']> {
  const bits = await host.readText('/sys/module/ip_vs/parameters/conn_tab_bits');
  if (!bits.ok) return fail(describeToolError(bits.error));
  const value = Number(bits.value.trim());
  return Number.isInteger(value) ? succeed(value) : fail(`conn_tab_bits is ${bits.value.trim()}`);
}

async function readNftTables(host: FolderHost): Promise<Fact<string>> {
  const used = await readHasNftables(host);
  if (!used.ok) return used;
  if (!used.value) return succeed('');
  const listed = await host.runTool({ tool: 'nft', args: ['list', 'tables'], timeoutMs: 30_000 });
  return listed.ok ? succeed(listed.value.stdout) : fail(describeToolError(listed.error));
}

async function readUplinks(host: FolderHost): Promise<Fact<ReadonlySet<string>>> {
  const [four, six] = await Promise.all(
    ['-4', '-6'].map((family) =>
      described(readTool(host, 'ip', [family, '-json', 'route', 'show', 'default'], parseUplinks)),
    ),
  );
  if (!four?.ok) return four ?? fail('no answer');
  return succeed(new Set([...four.value, ...(six?.ok ? six.value : [])]));
}

/** What is not there is told as `undefined`; what cannot be read is left out. */
async function readSettings(host: FolderHost, paths: readonly string[]): Promise<NodeFacts['sysctls']> {
  const read = await Promise.all(
    [...new Set(paths)].map(async (path) => [path, await host.readText(`/proc/sys/${path}`)] as const),
  );
  return new Map(
    read.flatMap(([path, text]): readonly (readonly [string, string | undefined])[] => {
      if (text.ok) return [[path, text.value.trim().replace(/\s+/g, ' ')]];
      return text.error.code === 'ENOENT' ? [[path, undefined]] : [];
    }),
  );
}

async function described<T>(work: ReturnType<typeof readTool<T>>): Promise<Fact<T>> {
  const read = await work;
  return read.ok ? read : fail(describeReadError(read.error));
}
