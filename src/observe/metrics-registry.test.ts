import { expect } from 'chai';
import { exponential, linear, MetricsRegistry } from './metrics-registry.ts';

describe('observe/metrics-registry', () => {
  let registry: MetricsRegistry;

  beforeEach(() => {
    registry = new MetricsRegistry();
  });

  async function page(): Promise<string> {
    let text = '';
    for await (const piece of registry.page()) text += piece;
    return text;
  }

  it('leaves a metric out until it has a value', async () => {
    const passes = registry.counter('passes_total', 'Passes', ['kind']);
    registry.gauge('depth', 'Depth', ['name']);
    expect(await page()).to.equal('');
    passes.inc({ kind: 'full' });
    expect(await page()).to.equal(
      '# HELP passes_total Passes\n# TYPE passes_total counter\npasses_total{kind="full"} 1\n',
    );
  });

  it('asks for values when the page is made', async () => {
    let depth = 1;
    registry.read('gauge', 'depth', 'Depth', () => [[{ name: 'services' }, depth]]);
    await page();
    depth = 2;
    expect(await page()).to.include('\ndepth{name="services"} 2\n');
  });

  it('writes a histogram that is counted elsewhere as one of its own', async () => {
    const reading = {
      buckets: [
        { upTo: 0.5, count: 1 },
        { upTo: Number.POSITIVE_INFINITY, count: 3 },
      ],
      count: 3,
      sum: 7.5,
    };
    registry.readHistograms('wait_seconds', 'Wait', () => [[{ level: 'low' }, reading]]);
    expect(await page()).to.equal(
      [
        '# HELP wait_seconds Wait',
        '# TYPE wait_seconds histogram',
        'wait_seconds_bucket{level="low",le="0.5"} 1',
        'wait_seconds_bucket{level="low",le="+Inf"} 3',
        'wait_seconds_sum{level="low"} 7.5',
        'wait_seconds_count{level="low"} 3',
        '',
      ].join('\n'),
    );
  });

  it('writes what is no number as Prometheus does', async () => {
    registry.read('gauge', 'lag', 'Lag', () => [[{}, Number.NaN]]);
    expect(await page()).to.match(/\nlag NaN\n$/);
  });

  it('has series of bounds', () => {
    expect(exponential(0.001, 2, 4)).to.deep.equal([0.001, 0.002, 0.004, 0.008]);
    expect(linear(60, 5, 75)).to.deep.equal([60, 65, 70, 75]);
  });
});
