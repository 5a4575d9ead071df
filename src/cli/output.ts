import { stringify } from 'yaml';
import type { Desired } from '../desired/desired.ts';
import { renderSysctls } from '../kernel/sysctl/render.ts';
import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import type { Problem } from '../model/problem.ts';
import { type FullScripts, renderFullState, type ScriptTool } from '../plan/scripts.ts';
import { describeState } from './describe-state.ts';

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
 * `{scripts, healthChecks, warnings, state}`. The same state gives the same text, byte for byte.
 */
export function formatDryRun(dryRun: DryRun, form: OutputForm): string {
  const scripts = renderFullState(dryRun.families);
  switch (form) {
    case 'script':
      return formatScript(scripts, dryRun);
    case 'json':
      return `${JSON.stringify(describe(scripts, dryRun), undefined, 2)}\n`;
    case 'yaml':
      return stringify(describe(scripts, dryRun), { lineWidth: 0, aliasDuplicateObjects: false });
    default:
      return scripts[form];
  }
}

function formatScript(scripts: FullScripts, { sysctls, families }: DryRun): string {
  const sections = SECTIONS.map(
    ([tool, title]) => `# ${title}\n${scripts[tool] === '' ? '# nothing\n' : scripts[tool]}`,
  );
  const checks = families.flatMap(({ healthChecks }) => healthChecks);
  const checkLines = checks.map(
    ({ port, service, localEndpoints }) => `# ${port} ${service}: ${localEndpoints} local endpoints\n`,
  );
  return [
    `# sysctl: sysctl -p -\n${renderSysctls(sysctls)}`,
    ...sections,
    ...(checks.length > 0 ? [`# health check ports\n${checkLines.join('')}`] : []),
  ].join('\n');
}

/** In the order in which a node is programmed. */
const SECTIONS: readonly (readonly [ScriptTool, string])[] = [
  ['ipset', 'sets: ipset -exist restore'],
  ['iptables', 'rules, IPv4: iptables-restore --noflush'],
  ['ip6tables', 'rules, IPv6: ip6tables-restore --noflush'],
  ['ipvs', 'virtual servers and real servers: ipvsadm -R'],
  ['address', 'addresses: ip -batch -'],
];

function describe(scripts: FullScripts, { families, warnings }: DryRun) {
  return {
    scripts,
    healthChecks: families.flatMap(({ healthChecks }) => healthChecks),
    warnings,
    state: Object.fromEntries(families.map(({ kernel }) => [kernel.family, describeState(kernel)])),
  };
}
