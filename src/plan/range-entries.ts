import { ownSets, setName } from '../kernel/ipset/definitions.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import { addressPortEntry } from '../kernel/ipset/state.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import { frontendOf } from './entry-frontend.ts';

/** Which entries of source ranges change at another time than others do. */
export interface RangeTurns {
  /** They come once the frontend serves nobody outside any more: those that it had were closed to the new ranges. */
  readonly isLate: (step: IpsetStep) => boolean;
  /** They go before the frontend serves anybody outside, which is closed to the old ranges. */
  readonly isEarly: (step: IpsetStep) => boolean;
}

/** A frontend serves nobody outside without endpoints, nor where it has none on this node and its policy asks for them. */
export function rangeTurns(
  desired: Pick<KernelState, 'family' | 'ipvs' | 'sets'>,
  observed: Pick<ObservedState, 'ipvs' | 'sets'>,
): RangeTurns {
  const { opening } = ownSets(desired.family);
  const noLocal = setName('EXTERNAL-NO-LOCAL', desired.family);
  const isOf = (step: IpsetStep, kind: 'add-entry' | 'delete-entry') =>
    step.kind === kind && opening.has(step.set.name) ? frontendOf(step.entry) : undefined;
  const serves = ({ ipvs, sets }: Pick<ObservedState, 'ipvs' | 'sets'>, key: VirtualServerKey) => {
    const server = ipvs.get(key);
    if (!server?.realServers.some(({ weight }) => weight > 0)) return false;
    return !sets.get(noLocal)?.entries.has(addressPortEntry(server.address, server.protocol, server.port));
  };
  return {
    isLate: (step) => {
      const key = isOf(step, 'add-entry');
      return key !== undefined && serves(observed, key) && !serves(desired, key);
    },
    isEarly: (step) => {
      const key = isOf(step, 'delete-entry');
      return key !== undefined && !serves(observed, key) && serves(desired, key);
    },
  };
}
