import type { Fact, NodeFacts, RuleBackEnd, ToolAnswer } from '../doctor/facts.ts';
import { ownBackEnd } from '../doctor/rule-back-end.ts';
import { parseEveryTable } from '../kernel/iptables/parse.ts';
import type { EveryTable } from '../kernel/iptables/state.ts';
import { fail, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { Host } from './host.ts';
import { readHasNftables } from './read-availability.ts';
import { describeReadError, readTool } from './read-kernel.ts';
import { describeToolError, type Tool } from './tool.ts';

/** Rules of both back ends. One that the kernel does not have in use is not asked, as that would load it; it has no rules. */
export async function readBothBackEnds(
  host: Host,
  tools: ReadonlyMap<string, ToolAnswer>,
): Promise<NodeFacts['rules']> {
  const own = ownBackEnd({ tools });
  const read = async (backEnd: RuleBackEnd) => {
    const [IPv4, IPv6] = await Promise.all([
      readRules(host, backEnd, 'IPv4', own === backEnd),
      readRules(host, backEnd, 'IPv6', own === backEnd),
    ]);
    return { IPv4, IPv6 };
  };
  const [legacy, nft] = await Promise.all([read('legacy'), read('nft')]);
  return { legacy, nft };
}

async function readRules(host: Host, backEnd: RuleBackEnd, family: Family, isOwn: boolean): Promise<Fact<EveryTable>> {
  const used = await isInUse(host, backEnd, family);
  if (!used.ok) return used;
  if (!used.value) return succeed(new Map());
  const tool = family === 'IPv4' ? 'iptables' : 'ip6tables';
  const name: Tool = isOwn ? `${tool}-save` : `${tool}-${backEnd}-save`;
  const read = await readTool(host, name, [], parseEveryTable);
  return read.ok ? read : fail(describeReadError(read.error));
}

async function isInUse(host: Host, backEnd: RuleBackEnd, family: Family): Promise<Fact<boolean>> {
  if (backEnd === 'nft') return readHasNftables(host);
  const names = await host.readText(`/proc/net/${family === 'IPv4' ? 'ip' : 'ip6'}_tables_names`);
  if (names.ok) return succeed(names.value.trim() !== '');
  return names.error.code === 'ENOENT' ? succeed(false) : fail(describeToolError(names.error));
}
