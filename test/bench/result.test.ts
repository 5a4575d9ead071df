import { expect } from 'chai';
import { type Figure, median, REFERENCE_SIZE } from './figure.ts';
import { formatResult, summarize } from './result.ts';

describe('test/bench/result', () => {
  const bench = { name: 'idle', title: 'nothing to do' };
  const figure = (samples: readonly number[], at: 'reference' | 'every size' = 'reference'): Figure => {
    return { what: 'pass', unit: 'ms', samples, goal: { atMost: 2, at } };
  };

  it('takes the middle of the samples, or between the two in the middle', () => {
    expect(median([9, 1, 2])).to.equal(2);
    expect(median([4, 1, 2, 9])).to.equal(3);
    expect(median([])).to.be.NaN;
  });

  it('puts the samples of several processes together', () => {
    const [pass] = summarize(bench, 100, [[figure([3, 1])], [figure([2])]], [0, 0]).figures;
    expect(pass).to.include({ median: 2, min: 1, max: 3, samples: 3 });
  });

  const cases = [
    {
      name: 'judges by the goal at the reference size',
      size: REFERENCE_SIZE,
      at: 'reference',
      samples: [1],
      reached: true,
    },
    { name: 'says when a goal is missed', size: REFERENCE_SIZE, at: 'reference', samples: [3], reached: false },
    { name: 'judges at no other size', size: 100, at: 'reference', samples: [3], reached: undefined },
    { name: 'judges at every size where the goal says so', size: 100, at: 'every size', samples: [3], reached: false },
  ] as const;
  for (const { name, size, at, samples, reached } of cases) {
    it(name, () =>
      expect(summarize(bench, size, [[figure(samples, at)]], [0, 0]).figures[0]?.reached).to.equal(reached),
    );
  }

  it('prints a block a benchmark, with the load of the machine', () => {
    const result = summarize(
      bench,
      REFERENCE_SIZE,
      [[figure([1, 2, 3]), { what: 'text', unit: 'MB', samples: [6.5] }]],
      [0.5, 1],
    );
    expect(formatResult(result)).to.equal(
      [
        'idle, 10,000 Services: nothing to do (load 0.5 … 1)',
        '  pass    2 ms  1 … 3  3  reached: at most 2 ms',
        '  text  6.5 MB         1',
        '',
      ].join('\n'),
    );
  });
});
