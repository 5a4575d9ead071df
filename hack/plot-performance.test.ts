import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Report } from '../test/bench/result.ts';
import { performanceTables, plotPerformance } from './plot-performance.ts';

describe('hack/plot-performance', () => {
  const page = (name: string) => readFileSync(join(import.meta.dirname, '../docs/explanation', name), 'utf8');
  const report: Report = JSON.parse(page('performance.json'));

  it('draws what stands beside the page; `node hack/plot-performance.ts FILE` makes it anew', () => {
    expect(page('performance.svg')).to.equal(plotPerformance(report));
  });

  it('belongs to the tables in the page', () => {
    const tables = /<!-- tables -->\n([\s\S]*?)<!-- end -->/.exec(page('performance.md'))?.[1];
    expect(tables).to.equal(performanceTables(report));
  });
});
