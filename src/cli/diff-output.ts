import type { Desired } from '../desired/desired.ts';
import type { Change } from '../explain/change.ts';
import type { Comparison } from '../explain/compare-node.ts';
import type { Problem } from '../model/problem.ts';
import { renderPlanPart, type ScriptTool } from '../plan/scripts.ts';
import { describeHealthChecks, describeState } from './describe-state.ts';
import { formatRecord } from './format-record.ts';
import type { OutputForm } from './output.ts';

/** Everything that a comparison of the node has to tell. */
export interface DiffReport {
  readonly families: readonly Desired[];
  /** One for each family. */
  readonly comparisons: readonly Comparison[];
  /** Settings of the kernel that differ. */
  readonly settings: readonly Change[];
  readonly warnings: readonly Problem[];
}

/** Whatever a pass, or the start of the daemon, would do. */
export function changesOf({ settings, comparisons }: DiffReport): readonly Change[] {
  return [...settings, ...comparisons.flatMap(({ changes }) => changes)];
}

/**
 * What would change as text. `script` is for people; the forms named after a tool are what a pass would feed into it, `''` where that is
 * nothing; `json` and `yaml` hold `{scripts, changes, leftAlone, healthChecks, warnings, state}`.
 */
export function formatDiff(report: DiffReport, form: OutputForm): string {
  switch (form) {
    case 'script':
      return formatForPeople(report);
    case 'json':
    case 'yaml':
      return formatRecord(describe(report), form);
    default:
      return deltaScript(report, form);
  }
}

/** One change a line: what happens, to what, of which Service, why. */
function formatForPeople(report: DiffReport): string {
  const changes = changesOf(report);
  const leftAlone = report.comparisons.flatMap((each) => each.leftAlone);
  const sections = SECTIONS.map(([tool, title]) => {
    const lines = changes.filter((change) => change.tool === tool).map(formatChange);
    return lines.length === 0 ? '' : `# ${title}\n${lines.join('\n')}\n\n`;
  });
  const kept = leftAlone.map(({ thing, why }) => `= ${thing}: ${why}\n`);
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length;
  const summary =
    changes.length === 0
      ? '# nothing would change'
      : `# ${count('add')} to add, ${count('change')} to change, ${count('remove')} to remove`;
  return `${sections.join('')}${kept.length > 0 ? `# left alone\n${kept.join('')}\n` : ''}${summary}\n`;
}

/** `~ real server 10.180.0.1:8080 of TCP 172.20.1.1:80 (shop/cart:http/TCP): weight 0 → 1` */
export function formatChange({ action, thing, services, why }: Change): string {
  const owners = services.length === 0 ? '' : ` (${services.join(', ')})`;
  return `${SIGNS[action]} ${thing}${owners}${why === '' ? '' : `: ${why}`}`;
}

const SIGNS = { add: '+', change: '~', remove: '-' } as const;

/** In the order in which a node is programmed. */
const SECTIONS: readonly (readonly [Change['tool'], string])[] = [
  ['sysctl', 'settings of the kernel'],
  ['ipset', 'sets'],
  ['iptables', 'rules, IPv4'],
  ['ip6tables', 'rules, IPv6'],
  ['ipvs', 'virtual servers and real servers'],
  ['address', 'addresses'],
];

/** What a pass would feed into one tool, all of its turns together. */
function deltaScript({ comparisons }: DiffReport, tool: ScriptTool): string {
  const scripts = comparisons.flatMap(({ plan }) => plan.parts.map(renderPlanPart));
  return scripts.flatMap((script) => (script.tool === tool ? [script.text] : [])).join('');
}

function describe(report: DiffReport) {
  const { families, comparisons, warnings } = report;
  return {
    scripts: Object.fromEntries(TOOLS.map((tool) => [tool, deltaScript(report, tool)])),
    changes: changesOf(report),
    leftAlone: comparisons.flatMap(({ leftAlone }) => leftAlone),
    healthChecks: describeHealthChecks(families),
    warnings,
    state: Object.fromEntries(families.map(({ kernel }) => [kernel.family, describeState(kernel)])),
  };
}

const TOOLS: readonly ScriptTool[] = ['ipvs', 'ipset', 'address', 'iptables', 'ip6tables'];
