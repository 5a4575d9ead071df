import type { IpAddress } from '../../net/ip-address.ts';
import type { DummyState } from './state.ts';

/** One change of the dummy interface; each is one line of `ip -batch`. */
export type DummyStep =
  | { readonly kind: 'create-interface' }
  | { readonly kind: 'bind-address'; readonly address: IpAddress }
  | { readonly kind: 'unbind-address'; readonly address: IpAddress };

export interface DummyDiff {
  readonly additions: readonly DummyStep[];
  readonly removals: readonly DummyStep[];
  /** Bound by somebody else and left alone. */
  readonly foreign: readonly IpAddress[];
}

export function diffDummy(
  observed: DummyState,
  desired: DummyState,
  mayUnbind: (address: IpAddress) => boolean,
): DummyDiff {
  const additions: DummyStep[] = observed.exists || !desired.exists ? [] : [{ kind: 'create-interface' }];
  const removals: DummyStep[] = [];
  const foreign: IpAddress[] = [];
  for (const address of desired.addresses) {
    if (!observed.addresses.has(address)) additions.push({ kind: 'bind-address', address });
  }
  for (const address of observed.addresses) {
    if (desired.addresses.has(address)) continue;
    if (mayUnbind(address)) removals.push({ kind: 'unbind-address', address });
    else foreign.push(address);
  }
  return { additions, removals, foreign };
}

/** The state after the steps, provided the kernel accepts them all. */
export function applyDummySteps(state: DummyState, steps: readonly DummyStep[]): DummyState {
  if (steps.length === 0) return state;
  const addresses = new Set(state.addresses);
  for (const step of steps) {
    if (step.kind === 'bind-address') addresses.add(step.address);
    else if (step.kind === 'unbind-address') addresses.delete(step.address);
  }
  return { exists: state.exists || steps.some(({ kind }) => kind === 'create-interface'), addresses };
}
