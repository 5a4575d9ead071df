import { ownSets } from '../kernel/ipset/definitions.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import { frontendOf } from './without-refused.ts';

/** Which entries of source ranges change at another time than others do. */
export interface RangeTurns {
  /** They come once the frontend has lost all of its endpoints: those were closed to the new ranges. */
  readonly isLate: (step: IpsetStep) => boolean;
  /** They go before the frontend gets its first endpoints, which are closed to the old ranges. */
  readonly isEarly: (step: IpsetStep) => boolean;
}

export function rangeTurns(
  { family, ipvs: desired }: Pick<KernelState, 'family' | 'ipvs'>,
  { ipvs: observed }: Pick<ObservedState, 'ipvs'>,
): RangeTurns {
  const { opening } = ownSets(family);
  const isOf = (step: IpsetStep, kind: 'add-entry' | 'delete-entry') =>
    step.kind === kind && opening.has(step.set.name) ? frontendOf(step.entry) : undefined;
  return {
    isLate: (step) => {
      const key = isOf(step, 'add-entry');
      return key !== undefined && serves(observed.get(key)) && !serves(desired.get(key));
    },
    isEarly: (step) => {
      const key = isOf(step, 'delete-entry');
      return key !== undefined && !serves(observed.get(key)) && serves(desired.get(key));
    },
  };
}

function serves(server: VirtualServer | undefined): boolean {
  return server?.realServers.some(({ weight }) => weight > 0) ?? false;
}
