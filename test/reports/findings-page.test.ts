import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readPage } from './pages.ts';

const CHECKS = join(import.meta.dirname, '../../src/doctor');

describe('test/reports/findings-page', () => {
  it('lists every finding of doctor by its name, and no other', () => {
    const files = readdirSync(CHECKS).filter((name) => /^check-.*(?<!\.test)\.ts$/.test(name));
    const found = files.flatMap((name) =>
      [...readFileSync(join(CHECKS, name), 'utf8').matchAll(/\bid: '([a-z0-9-]+)'/g)].map(([, id]) => id),
    );
    const listed = [...readPage('reference/doctor.md').matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, id]) => id);
    expect(listed.toSorted()).to.deep.equal([...new Set(found)].toSorted());
  });
});
