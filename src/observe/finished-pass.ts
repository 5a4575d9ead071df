import type { Desired } from '../desired/desired.ts';
import type { Family } from '../net/family.ts';
import type { Plan } from '../plan/plan-sync.ts';

/** What observers want to know of a pass; the reports of `sync/` fit. */
export interface FinishedPass {
  readonly kind: 'full' | 'normal';
  readonly tookMs: number;
  /** Empty when the pass failed before it came to the families. */
  readonly families: readonly FinishedFamily[];
  readonly errors: readonly unknown[];
  readonly refusals: readonly { readonly service: string; readonly refused: { readonly kind: string } }[];
}

export interface FinishedFamily {
  readonly state: { readonly family: Family; readonly desired: Desired | undefined };
  /** `undefined` when the family was programmed, but for what the kernel refused of single Services. */
  readonly error: unknown;
  readonly tookMs: number;
  /** `undefined` when it did not come to one. */
  readonly plan: Plan | undefined;
  readonly draining: number;
  readonly endedFlows: number;
}

/** How a pass went for one family; one that did not get as far has failed for all of them. */
export function resultOf(pass: FinishedPass, family: Family): 'succeeded' | 'failed' {
  const finished = pass.families.find(({ state }) => state.family === family);
  return finished && finished.error === undefined ? 'succeeded' : 'failed';
}
