import { stringify } from 'yaml';
import type { Desired } from '../desired/desired.ts';
import { renderSysctls } from '../kernel/sysctl/render.ts';
import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import type { Problem } from '../model/problem.ts';
import { renderFullScript, renderFullState, type ScriptTool } from '../plan/scripts.ts';
import { describeHealthChecks, describeState } from './describe-state.ts';

export const OUTPUT_FORMS = ['script', 'ipvs', 'ipset', 'address', 'iptables', 'ip6tables', 'json', 'yaml'] as const;

export type OutputForm = (typeof OUTPUT_FORMS)[number];

/** Everything that a dry run has to tell. */
export interface DryRun {
  readonly families: readonly Desired[];
  readonly sysctls: readonly SysctlSetting[];
  readonly warnings: readonly Problem[];
}

/**
 * The wanted state as text. `script` is for people; the forms named after a tool can be piped into it as they are; `json` and `yaml` hold
 * `{scripts, healthChecks, warnings, state}`. The same state gives the same text, byte for byte. It comes in parts of which each is to be
 * written before the next one is asked for: then there is never a whole copy of a script.
 */
export function formatDryRun(dryRun: DryRun, form: OutputForm): Iterable<string> {
  switch (form) {
    case 'script':
      return inLargeParts(formatScript(dryRun));
    case 'json':
      return [`${JSON.stringify(describe(dryRun), undefined, 2)}\n`];
    case 'yaml':
      return [stringify(describe(dryRun), { lineWidth: 0, aliasDuplicateObjects: false })];
    default:
      return inLargeParts(renderFullScript(dryRun.families, form));
  }
}

/** Each is worth a call of the system. */
function* inLargeParts(parts: Iterable<string>): Generator<string> {
  let waiting: string[] = [];
  let length = 0;
  for (const part of parts) {
    waiting.push(part);
    length += part.length;
    if (length < LARGE) continue;
    yield waiting.join('');
    waiting = [];
    length = 0;
  }
  if (length > 0) yield waiting.join('');
}

const LARGE = 64 * 1024;

function* formatScript({ sysctls, families }: DryRun): Generator<string> {
  yield `# sysctl: sysctl -p -\n${renderSysctls(sysctls)}`;
  for (const [tool, title] of SECTIONS) {
    yield `\n# ${title}\n`;
    let length = 0;
    for (const part of renderFullScript(families, tool)) {
      length += part.length;
      yield part;
    }
    if (length === 0) yield '# nothing\n';
  }
  const checks = describeHealthChecks(families).map(
    ({ service, family, port, localEndpoints }) =>
      `# ${port} ${service}, ${family}: local endpoints: ${localEndpoints}\n`,
  );
  if (checks.length > 0) yield '\n# health check ports\n';
  yield* checks;
}

/** In the order in which a node is programmed. */
const SECTIONS: readonly (readonly [ScriptTool, string])[] = [
  ['ipset', 'sets: ipset -exist restore'],
  ['iptables', 'rules, IPv4: iptables-restore --noflush'],
  ['ip6tables', 'rules, IPv6: ip6tables-restore --noflush'],
  ['ipvs', 'virtual servers and real servers: ipvsadm -R'],
  ['address', 'addresses: ip -batch -'],
];

function describe({ families, warnings }: DryRun) {
  return {
    scripts: renderFullState(families),
    healthChecks: describeHealthChecks(families),
    warnings,
    state: Object.fromEntries(families.map(({ kernel }) => [kernel.family, describeState(kernel)])),
  };
}
