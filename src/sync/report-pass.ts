import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import type { Plan, PlanPart } from '../plan/plan-sync.ts';
import { describeRefused } from '../plan/refused.ts';
import type { TakenService } from '../queue/queue-entry.ts';
import type { PassReport } from './proxier.ts';

/** Fields for the one log line of a pass: why it ran, what changed, and how long each tool took. */
export function passFields(report: PassReport, taken: readonly TakenService[]): Readonly<Record<string, unknown>> {
  return {
    pass: report.kind,
    reasons: [...report.reasons].sort(),
    ms: Math.round(report.tookMs),
    services: Math.max(0, ...report.families.map(({ changedServices }) => changedServices)),
    ...countLevels(taken),
    ...countSteps(report),
    ...countFlows(report),
    toolMs: toolTimes(report),
  };
}

/** True when a tool was started that writes. */
export function changedAnything(report: PassReport): boolean {
  return report.families.some(({ runs }) => runs.length > 0);
}

/** A sentence for everything that is not wanted and stays all the same: what is not ours, what the kernel does not let go of, and UDP flows that could not be ended. */
export function foreignThings({ families }: PassReport): readonly string[] {
  return families.flatMap(({ plan, state, flowsError, leftovers }) => [
    ...(plan?.kept ?? [])
      .filter(({ why }) => why === 'foreign')
      .map(({ server }) => `virtual server ${virtualServerKey(server)} ${FOREIGN}`),
    ...(plan?.foreignAddresses ?? []).map((address) => `address ${address} on ${DUMMY_INTERFACE} ${FOREIGN}`),
    ...leftovers.map(
      ({ refused, message }) => `${describeRefused(refused)} is refused, and is tried again: ${message}`,
    ),
    ...(flowsError ? [`stale ${state.family} UDP flows may be left: ${flowsError.message}`] : []),
  ]);
}

const FOREIGN = 'is not ours and is left alone';

/** Services in the pass by how urgent they were; nothing for a level that does not occur. */
function countLevels(taken: readonly TakenService[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { level } of taken) counts[level] = (counts[level] ?? 0) + 1;
  return counts;
}

/** Counts by kind of step, of those that ran; nothing for a kind that does not occur. */
export function countSteps({ families }: PassReport): Readonly<Record<string, number>> {
  const plans = families.flatMap(({ plan, error }) => (plan && !error ? [plan] : []));
  const kinds = plans.flatMap((plan: Plan) => plan.parts.flatMap(kindsOf));
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function countFlows({ families }: PassReport): Readonly<Record<string, number>> {
  const ended = families.reduce((sum, { endedFlows }) => sum + endedFlows, 0);
  return ended > 0 ? { 'end-udp-flow': ended } : {};
}

function kindsOf(part: PlanPart): readonly string[] {
  if (part.tool === 'iptables')
    return part.changes.map(({ table }) => `${part.family === 'IPv4' ? 'iptables' : 'ip6tables'}-${table}`);
  return (part.steps as readonly (IpvsStep | { readonly kind: string })[]).map(({ kind }) => kind);
}

function toolTimes({ families }: PassReport): Readonly<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const { tool, tookMs } of families.flatMap(({ runs }) => runs))
    times[tool] = Math.round((times[tool] ?? 0) + tookMs);
  return times;
}
