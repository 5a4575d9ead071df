import { assertNever } from '../../model/assert-never.ts';
import { hostCidr } from '../../net/cidr.ts';
import type { DummyStep } from './diff.ts';
import { DUMMY_INTERFACE, type DummyState } from './state.ts';

/** The whole state as lines of `ip -batch`, for a node without the interface. */
export function renderDummyState(state: DummyState): string {
  const bound = [...state.addresses].sort().map((address): DummyStep => ({ kind: 'bind-address', address }));
  return renderDummySteps([...(state.exists ? [{ kind: 'create-interface' } as const] : []), ...bound]);
}

/** Lines of `ip -batch` in the order of the steps; `''` for no steps. */
export function renderDummySteps(steps: readonly DummyStep[]): string {
  return steps.map((step) => `${renderDummyStep(step)}\n`).join('');
}

export function renderDummyStep(step: DummyStep): string {
  switch (step.kind) {
    case 'create-interface':
      return `link add ${DUMMY_INTERFACE} type dummy`;
    case 'bind-address':
      return `address replace ${hostCidr(step.address)} dev ${DUMMY_INTERFACE}`;
    case 'unbind-address':
      return `address delete ${hostCidr(step.address)} dev ${DUMMY_INTERFACE}`;
    default:
      return assertNever(step);
  }
}
