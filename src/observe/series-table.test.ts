import { expect } from 'chai';
import { SeriesTable } from './series-table.ts';

describe('observe/series-table', () => {
  it('writes a line for each series, with the value of the metric asked for', () => {
    const series = new SeriesTable(2);
    series.add('{service="cart"}', [3, 4.5]);
    series.add('{service="till"}', [7]);
    expect(series.size).to.equal(2);
    expect(String(series.lines('# HEAD\n', 'packets', 1, 0, 2))).to.equal(
      '# HEAD\npackets{service="cart"} 4.5\npackets{service="till"} 0\n',
    );
  });

  it('has as many series as come, and gives any part of them', () => {
    const series = new SeriesTable(1);
    const label = (index: number) => `{frontend="${'x'.repeat(index % 300)}"}`;
    for (let index = 0; index < 5000; index += 1) series.add(label(index), [index]);
    const wanted = Array.from({ length: 700 }, (_, place) => `n${label(place + 3000)} ${place + 3000}\n`);
    expect(String(series.lines('', 'n', 0, 3000, 3700))).to.equal(wanted.join(''));
    expect(String(series.lines('', 'n', 0, 5000, 5000))).to.equal('');
  });

  it('has room for the longest number', () => {
    const series = new SeriesTable(1);
    series.add('', [-Number.MIN_VALUE * 3, 0]);
    series.add('', [-1.7976931348623157e308]);
    expect(String(series.lines('', 'n', 0, 0, 2))).to.equal('n -1.5e-323\nn -1.7976931348623157e+308\n');
  });
});
