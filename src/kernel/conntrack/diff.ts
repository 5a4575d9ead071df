import { type FlowEnd, type FlowTargets, flowEndKey, type UdpFlow } from './state.ts';

/** Flows that must not be, as one filter of the tool names them. */
export interface StaleFlows {
  readonly to: FlowEnd;
  /** `undefined`: whoever answers. */
  readonly answeredBy: FlowEnd | undefined;
  readonly count: number;
}

/**
 * What has to go, the most flows first. Whether a flow is stale depends on its two ends alone, so nothing else is ever named by a filter.
 * Where nobody may answer, one filter is enough for a frontend.
 */
export function diffFlows(flows: readonly UdpFlow[], targets: FlowTargets): readonly StaleFlows[] {
  const stale = new Map<string, StaleFlows>();
  for (const { to, answeredBy } of flows) {
    const [frontend, answerer] = [flowEndKey(to), flowEndKey(answeredBy)];
    const allowed = targets.get(frontend);
    if (!allowed || allowed.has(answerer)) continue;
    const anyone = allowed.size === 0;
    const key = anyone ? frontend : `${frontend} ${answerer}`;
    const count = (stale.get(key)?.count ?? 0) + 1;
    stale.set(key, { to, answeredBy: anyone ? undefined : answeredBy, count });
  }
  return [...stale].sort(byCountThenKey).map(([, flows]) => flows);
}

function byCountThenKey([keyA, a]: [string, StaleFlows], [keyB, b]: [string, StaleFlows]): number {
  return b.count - a.count || (keyA < keyB ? -1 : 1);
}
