import { expect } from 'chai';
import type { Scenario } from '../../test/conformance/scenario.ts';
import { chooseScenarios } from './choose.ts';

const run = async () => {};
const ALL: readonly Scenario[] = [
  { name: 'Services should serve', run, smoke: true },
  { name: 'Services should serve [Slow]', run },
  { name: 'both families', run, dual: true },
];
const EVERYTHING = { focus: undefined, skip: undefined, smoke: false };

function names(
  family: 'ipv4' | 'dual',
  options: Partial<Parameters<typeof chooseScenarios>[2]> = {},
): readonly string[] {
  return chooseScenarios(ALL, family, { ...EVERYTHING, ...options }).map(({ name }) => name);
}

describe('hack/e2e/choose', () => {
  it('leaves out what needs both families where there is one', () => {
    expect(names('ipv4')).to.deep.equal(['Services should serve', 'Services should serve [Slow]']);
    expect(names('dual')).to.have.length(3);
  });

  it('takes what the focus matches and the skip does not', () => {
    expect(names('dual', { focus: /serve/, skip: /\[Slow\]/ })).to.deep.equal(['Services should serve']);
  });

  it('takes only the handful for smoke', () => {
    expect(names('dual', { smoke: true })).to.deep.equal(['Services should serve']);
  });
});
