import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Replayed } from '../src/replay/replay-trace.ts';
import { formatReplay } from '../src/replay/report.ts';
import { plotLatency, replayForPlot } from './plot-latency.ts';

describe('hack/plot-latency', () => {
  const page = (name: string) => readFileSync(join(import.meta.dirname, '../docs/explanation', name), 'utf8');
  let drawn: { readonly replayed: Replayed; readonly title: string };

  before(async function () {
    this.timeout(60_000);
    drawn = await replayForPlot('seed=1');
  });

  it('draws what stands beside the page; `node hack/plot-latency.ts` makes it anew', () => {
    expect(page('latency-by-level.svg')).to.equal(plotLatency(drawn.replayed.controllers, drawn.title));
  });

  it('belongs to the table in the page', () => {
    const table = /<!-- table -->\n```\n([\s\S]*?)```/.exec(page('from-event-to-pass.md'))?.[1];
    expect(table).to.equal(formatReplay(drawn.replayed));
  });
});
