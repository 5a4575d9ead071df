import { diffFlows } from '../kernel/conntrack/diff.ts';
import { parseFlows } from '../kernel/conntrack/parse.ts';
import { renderFlowDeletion } from '../kernel/conntrack/render.ts';
import type { FlowTargets } from '../kernel/conntrack/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { Host } from './host.ts';
import type { ReadError } from './read-kernel.ts';
import { describeToolError, type ToolError } from './tool.ts';

/** What was done about stale flows. */
export interface ClearedFlows {
  /** Flows that were ended. */
  readonly flows: number;
  /** Processes that were started to end them. */
  readonly deletions: number;
  /** True when there are more of them, left for another time. */
  readonly more: boolean;
}

const TIMEOUT_MS = 10_000;

/** Each deletion is a process that walks over the whole table of the kernel. */
const MAX_DELETIONS = 50;
const MAX_DURATION_MS = 5000;

/**
 * Ends the UDP flows of a family that somebody else answers than may: one process lists the flows, and one ends those of one filter, up to
 * a bound in number and in time from then on. Without the tool nothing is done, which is not an error.
 */
export async function clearStaleFlows(
  host: Host,
  family: Family,
  targets: FlowTargets,
  nowMs: () => number,
): Promise<Result<ClearedFlows, ReadError>> {
  const args = ['-L', '-p', 'udp', '-f', family.toLowerCase()];
  const listed = await host.runTool({ tool: 'conntrack', args, timeoutMs: TIMEOUT_MS });
  if (!listed.ok) return listed.error.kind === 'tool-missing' ? succeed(NOTHING) : listed;
  const present = parseFlows(listed.value.stdout);
  if (!present) return fail({ kind: 'not-understood', source: ['conntrack', ...args].join(' ') });
  const stale = diffFlows(present, targets);
  const startedMs = nowMs();
  let [flows, deletions] = [0, 0];
  for (const each of stale) {
    if (deletions === MAX_DELETIONS || nowMs() - startedMs > MAX_DURATION_MS) break;
    const ended = await endFlows(host, renderFlowDeletion(each));
    if (!ended.ok) return ended;
    flows += ended.value;
    deletions += 1;
  }
  return succeed({ flows, deletions, more: deletions < stale.length });
}

const NOTHING: ClearedFlows = { flows: 0, deletions: 0, more: false };

/** The number of flows that were ended. Status 1 stands for failures, and for flows that have ended by themselves meanwhile. */
async function endFlows(host: Host, args: readonly string[]): Promise<Result<number, ToolError>> {
  const ended = await host.runTool({ tool: 'conntrack', args, timeoutMs: TIMEOUT_MS });
  if (ended.ok) return succeed(ended.value.stdout.split('\n').filter(Boolean).length);
  const { error } = ended;
  const none = error.kind === 'tool-refused' && error.stderr.includes(': 0 flow entries have been deleted');
  return none ? succeed(0) : ended;
}

/** What a person should know of the tool at the start; empty when it is there. */
export async function conntrackWarnings(host: Host): Promise<readonly string[]> {
  const asked = await host.runTool({ tool: 'conntrack', args: ['--version'], timeoutMs: TIMEOUT_MS });
  return asked.ok ? [] : [`stale UDP flows are not ended: ${describeToolError(asked.error)}`];
}
