import { expect } from 'chai';
import { Latencies } from './latencies.ts';

describe('replay/latencies', () => {
  it('gives percentiles by nearest rank, for each level and for all together', () => {
    const latencies = new Latencies();
    for (let ms = 1; ms <= 100; ms += 1) latencies.observe('high', ms);
    for (let ms = 101; ms <= 200; ms += 1) latencies.observe('low', ms);
    const { all, high, low } = latencies.read();
    expect(high).to.deep.equal({ events: 100, p50: 50, p90: 90, p99: 99, max: 100 });
    expect(low).to.deep.equal({ events: 100, p50: 150, p90: 190, p99: 199, max: 200 });
    expect(all).to.deep.equal({ events: 200, p50: 100, p90: 180, p99: 198, max: 200 });
  });

  it('gives zeros where there were no events', () => {
    expect(new Latencies().read().critical).to.deep.equal({ events: 0, p50: 0, p90: 0, p99: 0, max: 0 });
  });

  it('tells events apart to a hundredth of a millisecond', () => {
    const latencies = new Latencies();
    for (const ms of [0.1 + 0.2, 0.3, 0.31, 0.314]) latencies.observe('normal', ms);
    expect(latencies.counts('normal')).to.deep.equal([
      [0.3, 2],
      [0.31, 2],
    ]);
  });
});
