import { type Kept, type Removed, removedBetween } from '../cleanup/leftovers.ts';
import { renderDestroySets } from '../cleanup/plan-cleanup.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Script } from '../plan/scripts.ts';
import type { Clock } from '../queue/clock.ts';
import { sleep } from '../queue/sleep.ts';
import type { Host } from './host.ts';
import { scriptCall } from './kernel.ts';
import { describeToolError, type ToolCall } from './tool.ts';

/** One tool to run; `sets` where it destroys them, which can be done one by one. */
export interface CleanupStep {
  readonly call: ToolCall;
  readonly sets?: readonly string[];
}

/** What is there to be removed now. */
export interface Look {
  readonly steps: readonly CleanupStep[];
  readonly removed: Removed;
  readonly kept: readonly Kept[];
  /** What could not be looked at, a line each. */
  readonly troubles: readonly string[];
}

export interface Cleaned {
  /** What was there and is there no more. */
  readonly removed: Removed;
  readonly kept: readonly Kept[];
  /** Why something is left that was to go, a line each; none after a success. */
  readonly troubles: readonly string[];
}

/** Others may change the tables meanwhile; then what was planned is refused, and has to be planned anew. */
const ATTEMPTS = 3;

/** Removes what `look` finds until it finds nothing more, or nothing helps. A step that fails ends the attempt: what comes after counts on it. */
export async function runCleanup(host: Host, clock: Clock, look: () => Promise<Look>): Promise<Cleaned> {
  const first = await look();
  let now = first;
  let failures: readonly string[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS && now.steps.length > 0; attempt++) {
    failures = await runSteps(host, clock, now.steps);
    now = await look();
  }
  const left = now.steps.length > 0 ? failures : [];
  return { removed: removedBetween(first.removed, now.removed), kept: now.kept, troubles: [...now.troubles, ...left] };
}

export function scriptSteps(scripts: readonly Script[], sets: readonly string[] = []): readonly CleanupStep[] {
  const steps = scripts.map(({ tool, text }): CleanupStep => ({ call: scriptCall(tool, text) }));
  return sets.length === 0 ? steps : [...steps, { call: scriptCall('ipset', renderDestroySets(sets)), sets }];
}

async function runSteps(host: Host, clock: Clock, steps: readonly CleanupStep[]): Promise<readonly string[]> {
  for (const { call, sets } of steps) {
    const ran = await host.runTool(call);
    if (ran.ok) continue;
    if (!sets) return [describeToolError(ran.error)];
    const destroyed = await Promise.all(sets.map((name) => destroySet(host, clock, name)));
    return destroyed.flatMap((each) => (each.ok ? [] : [each.error]));
  }
  return [];
}

/** The kernel lets go of what a rule of nftables named a moment after the rule has gone. */
const PAUSES_MS = [0, 100, 200, 400, 800];

/** A set that is there no more was destroyed before. */
async function destroySet(host: Host, clock: Clock, name: string): Promise<Result<void, string>> {
  let refusal = '';
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await sleep(clock, pauseMs);
    const ran = await host.runTool(scriptCall('ipset', renderDestroySets([name])));
    if (ran.ok) return succeed(undefined);
    refusal = describeToolError(ran.error);
    if (/does not exist/.test(refusal)) return succeed(undefined);
  }
  return fail(`set ${name} stays: ${refusal}`);
}
