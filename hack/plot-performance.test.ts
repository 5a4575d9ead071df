import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { performanceTables, plotPerformance, readResults } from './plot-performance.ts';

describe('hack/plot-performance', () => {
  const path = (name: string) => join(import.meta.dirname, '../docs/explanation', name);
  const page = (name: string) => readFileSync(path(name), 'utf8');

  it('draws what stands beside the page; `node hack/plot-performance.ts FILE` makes it anew', () => {
    expect(page('performance.svg')).to.equal(plotPerformance(readResults([path('performance.json')])));
  });

  it('belongs to the tables in the page', () => {
    const tables = /<!-- tables -->\n([\s\S]*?)<!-- end -->/.exec(page('performance.md'))?.[1];
    const results = readResults([path('performance.json'), path('performance-lab.json')]);
    expect(tables).to.equal(performanceTables(results));
  });
});
