import type { NodeFacts } from './facts.ts';
import { type Checked, type Finding, found, NOTHING_FOUND, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'tools' | 'hasIpv6'>;

/** Whether the tools are there, and not too old. */
export function checkTools(facts: Facts): Checked {
  return together([
    ...[...NEEDED].map(([tool, matters]) => checkTool(facts, tool, 'error', matters)),
    checkTool(facts, 'conntrack', 'warning', 'stale UDP flows are not ended: clients talk to endpoints that are gone'),
    facts.hasIpv6
      ? checkTool(facts, 'ip6tables', 'warning', 'the IPv6 addresses of Services are not served')
      : NOTHING_FOUND,
    checkIpset(facts),
    checkIptables(facts),
  ]);
}

const NEEDED: ReadonlyMap<string, string> = new Map([
  ['ipvsadm', 'virtual servers cannot be programmed'],
  ['ipset', 'sets cannot be programmed'],
  ['ip', 'addresses cannot be bound'],
  ['iptables', 'rules cannot be programmed'],
]);

function checkTool({ tools }: Facts, tool: string, level: Finding['level'], matters: string): Checked {
  const answer = tools.get(tool);
  if (answer?.kind === 'failed') return notChecked(`the version of ${tool}`, answer.why);
  if (answer?.kind !== 'missing') return NOTHING_FOUND;
  const saw = `${tool} is not installed or not on PATH`;
  return found({ level, id: 'tool-missing', saw, matters, remedy: `install package ${answer.package}` });
}

function checkIpset(facts: Facts): Checked {
  const version = versionOf(facts, 'ipset');
  if (!version || version.numbers[0] >= 6) return NOTHING_FOUND;
  return found({
    level: 'error',
    id: 'tool-too-old',
    saw: `ipset ${version.text}`,
    matters: 'the daemon does not start with it',
    remedy: 'ipset 6.0 or later',
  });
}

function checkIptables(facts: Facts): Checked {
  const version = versionOf(facts, 'iptables');
  if (!version) return NOTHING_FOUND;
  const [major, minor, patch] = version.numbers;
  const saw = `iptables ${version.text}`;
  if (major === 1 && (minor < 6 || (minor === 6 && patch < 2))) {
    const matters =
      'it does not know --random-fully: masqueraded connections of a burst may get the same port, and wait';
    return found({ level: 'warning', id: 'tool-too-old', saw, matters, remedy: 'iptables 1.6.2 or later' });
  }
  if (major === 1 && minor === 8 && patch <= 2 && version.isNft) {
    const matters = 'its nft back end loses and doubles rules when several programs restore them';
    return found({ level: 'warning', id: 'tool-too-old', saw, matters, remedy: 'iptables 1.8.3 or later' });
  }
  return NOTHING_FOUND;
}

function versionOf({ tools }: Facts, tool: string) {
  const answer = tools.get(tool);
  if (answer?.kind !== 'version') return undefined;
  const [text = '', major, minor, patch] = /v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(answer.text) ?? [];
  if (major === undefined) return undefined;
  const numbers = [Number(major), Number(minor), Number(patch ?? 0)] as const;
  return { text: text.replace('v', ''), numbers, isNft: answer.text.includes('nf_tables') };
}
