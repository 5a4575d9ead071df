import type { FamilyMode } from '../../test/conformance/plan.ts';
import type { Scenario } from '../../test/conformance/scenario.ts';
import type { Options } from './options.ts';

/** The scenarios that run in a family, in the order of the list. */
export function chooseScenarios(
  all: readonly Scenario[],
  family: FamilyMode,
  { focus, skip, smoke }: Pick<Options, 'focus' | 'skip' | 'smoke'>,
): readonly Scenario[] {
  return all.filter((scenario) => {
    if (scenario.dual === true && family !== 'dual') return false;
    if (smoke && scenario.smoke !== true) return false;
    return (focus?.test(scenario.name) ?? true) && !(skip?.test(scenario.name) ?? false);
  });
}
