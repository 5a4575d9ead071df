import { expect } from 'chai';
import { restart } from './restart.ts';

describe('test/bench/restart', () => {
  it('finds that a restart writes a line for each difference, and none on a right table', async () => {
    const figures = await restart.run(20);
    const lines = figures.filter(({ unit }) => unit === 'lines').map(({ what, samples }) => [what, ...samples]);
    expect(lines).to.deep.equal([
      ['lines written, 0 differences', 0],
      ['lines written, 1 differences', 1],
      ['lines written, 100 differences', 100],
    ]);
  });
});
