import type { Desired } from '../desired/desired.ts';
import { renderDummyState, renderDummySteps } from '../kernel/dummy/render.ts';
import { renderIpsetState, renderIpsetSteps } from '../kernel/ipset/render.ts';
import { renderTableChanges, renderTables } from '../kernel/iptables/render.ts';
import { renderIpvsState, renderIpvsSteps } from '../kernel/ipvs/render.ts';
import { assertNever } from '../model/assert-never.ts';
import type { Family } from '../net/family.ts';
import type { PlanPart } from './plan-sync.ts';

/** Which tool reads a script on its standard input. */
export type ScriptTool = 'ipvs' | 'ipset' | 'address' | 'iptables' | 'ip6tables';

export interface Script {
  readonly tool: ScriptTool;
  readonly text: string;
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
  const merged = <K, V>(pick: (desired: Desired) => ReadonlyMap<K, V>) =>
    new Map(families.flatMap((desired) => [...pick(desired)]));
  const tablesOf = (family: Family) => {
    const desired = families.find(({ kernel }) => kernel.family === family);
    return desired ? renderTables(desired.kernel.tables) : '';
  };
  const addresses = new Set(families.flatMap(({ kernel }) => [...kernel.dummy.addresses]));
  return {
    ipvs: renderIpvsState(merged(({ kernel }) => kernel.ipvs)),
    ipset: renderIpsetState(merged(({ kernel }) => kernel.sets)),
    address: renderDummyState({ exists: families.length > 0, addresses }),
    iptables: tablesOf('IPv4'),
    ip6tables: tablesOf('IPv6'),
  };
}
