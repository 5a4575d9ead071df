import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SCENARIOS } from './scenarios.ts';

const PAGE = join(import.meta.dirname, '../../docs/reference/conformance.md');
const ROW = /^\| (.+) \| (tested.*|left out: .{10,}) \|$/gm;

describe('test/conformance/documented', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(([, name = '', here = '']) => ({ name, here }));
  const tested = rows.filter(({ here }) => here.startsWith('tested'));

  it('has every scenario in the page, and no other under "tested"', () => {
    expect(tested.map(({ name }) => name).sort()).to.deep.equal(SCENARIOS.map(({ name }) => name).sort());
  });

  it('says of the scenarios that need both families that they do', () => {
    const both = tested.filter(({ here }) => here.includes('both families')).map(({ name }) => name);
    expect(both.sort()).to.deep.equal(
      SCENARIOS.filter(({ dual }) => dual)
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('gives every scenario a name of its own', () => {
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).to.equal(SCENARIOS.length);
  });

  it('has reasons for rows left out', () => {
    expect(rows.length).to.be.greaterThan(tested.length);
  });
});
