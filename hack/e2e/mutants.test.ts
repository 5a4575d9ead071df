import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SCENARIOS } from '../../test/conformance/scenarios.ts';
import { chooseScenarios } from './choose.ts';
import { MUTANTS } from './mutant-list.ts';
import { replaceOnce } from './mutants.ts';

describe('hack/e2e/mutants', () => {
  for (const mutant of MUTANTS) {
    it(`"${mutant.name}" still has one place in the program to break, and scenarios that have to notice`, () => {
      const text = readFileSync(join(import.meta.dirname, '../../src', mutant.file), 'utf8');
      expect(replaceOnce(text, mutant)).to.not.equal(text);
      const { family, focus } = mutant;
      const noticing = chooseScenarios(SCENARIOS, family, { focus, skip: undefined, smoke: false });
      expect(noticing).to.have.length.greaterThan(0);
    });
  }

  it('refuses a replacement that has no place, or two', () => {
    const mutant = {
      ...MUTANTS[0],
      name: 'odd',
      file: 'x.ts',
      search: 'a',
      replace: 'b',
      family: 'ipv4',
      focus: /x/,
    } as const;
    expect(() => replaceOnce('xyz', mutant)).to.throw('"a" is 0 times in src/x.ts');
    expect(() => replaceOnce('a a', mutant)).to.throw('"a" is 2 times in src/x.ts');
    expect(replaceOnce('xay', mutant)).to.equal('xby');
  });
});
