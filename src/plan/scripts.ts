import type { Desired } from '../desired/desired.ts';
import { renderDummyState, renderDummySteps } from '../kernel/dummy/render.ts';
import { renderIpsetParts, renderIpsetSteps } from '../kernel/ipset/render.ts';
import { renderTableChanges, renderTables } from '../kernel/iptables/render.ts';
import { renderIpvsParts, renderIpvsSteps } from '../kernel/ipvs/render.ts';
import { assertNever } from '../model/assert-never.ts';
import type { Family } from '../net/family.ts';
import type { PlanPart } from './plan-sync.ts';

/** Which tool reads a script on its standard input. */
export type ScriptTool = 'ipvs' | 'ipset' | 'address' | 'iptables' | 'ip6tables';

export interface Script {
  readonly tool: ScriptTool;
  readonly text: string;
  /** For `ipset`, which stops at a line that is refused: it goes on, and tells nothing of it. */
  readonly goesOn?: true;
}

/** The whole wanted state as one script a tool, for a node that has nothing of it. */
export type FullScripts = Readonly<Record<ScriptTool, string>>;

export function renderPlanPart(part: PlanPart): Script {
  switch (part.tool) {
    case 'ipset':
      return { tool: 'ipset', text: renderIpsetSteps(part.steps) };
    case 'iptables':
      return { tool: part.family === 'IPv4' ? 'iptables' : 'ip6tables', text: renderTableChanges(part.changes) };
    case 'ipvs':
      return { tool: 'ipvs', text: renderIpvsSteps(part.steps) };
    case 'address':
      return { tool: 'address', text: renderDummySteps(part.steps) };
    default:
      return assertNever(part);
  }
}

/** Both families together; a family that is not among them leaves its iptables text empty. */
export function renderFullState(families: readonly Desired[]): FullScripts {
  const text = (tool: ScriptTool) => [...renderFullScript(families, tool)].join('');
  return {
    ipvs: text('ipvs'),
    ipset: text('ipset'),
    address: text('address'),
    iptables: text('iptables'),
    ip6tables: text('ip6tables'),
  };
}

/** One of those scripts in parts, each some whole lines, so that not all of a long text has to be held. */
export function renderFullScript(families: readonly Desired[], tool: ScriptTool): Iterable<string> {
  switch (tool) {
    case 'ipvs':
      return renderIpvsParts(merged(families, ({ kernel }) => kernel.ipvs));
    case 'ipset':
      return renderIpsetParts(merged(families, ({ kernel }) => kernel.sets));
    case 'address': {
      const addresses = new Set(families.flatMap(({ kernel }) => [...kernel.dummy.addresses]));
      return [renderDummyState({ exists: families.length > 0, addresses })];
    }
    case 'iptables':
      return [rulesOf('IPv4', families)];
    case 'ip6tables':
      return [rulesOf('IPv6', families)];
    default:
      return assertNever(tool);
  }
}

function merged<K, V>(families: readonly Desired[], pick: (desired: Desired) => ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  return new Map(families.flatMap((desired) => [...pick(desired)]));
}

function rulesOf(family: Family, families: readonly Desired[]): string {
  const desired = families.find(({ kernel }) => kernel.family === family);
  return desired ? renderTables(desired.kernel.tables) : '';
}
