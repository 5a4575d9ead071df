import { formatDryRun } from '../../src/cli/output.ts';
import { computeOnce } from '../../src/sync/compute-once.ts';
import { settings } from '../builders/objects.ts';
import { benchNode, clusterObjects } from './cluster.ts';
import { type Bench, SIZES } from './figure.ts';
import { measureInTurn, processorMs } from './measure.ts';

/** What a dry run does after it has read its objects. */
export const fullState: Bench = {
  name: 'full-state',
  title: 'everything computed and rendered, from objects in memory',
  sizes: SIZES,
  processes: 3,
  run: async (size) => {
    const objects = clusterObjects(size);
    const node = benchNode();
    const compute = () => computeOnce(objects, node, ['IPv4'], settings());
    const render = (families: ReturnType<typeof compute>) =>
      lengthOf(formatDryRun({ families, sysctls: [], warnings: [] }, 'script'));
    const startMs = processorMs();
    const families = compute();
    const length = render(families);
    const firstMs = processorMs() - startMs;
    const works = [() => render(compute()), compute, () => render(families)];
    const [both = [], computing = [], rendering = []] = await measureInTurn(works, { warmUp: 20, samples: 8 });
    return [
      { what: 'computed and rendered, warm', unit: 'ms', samples: both, goal: { atMost: 150, at: 'reference' } },
      { what: 'computed, warm', unit: 'ms', samples: computing },
      { what: 'rendered, warm', unit: 'ms', samples: rendering },
      { what: 'computed and rendered, first time in a process', unit: 'ms', samples: [firstMs] },
      { what: 'text', unit: 'MB', samples: [length / 1e6] },
    ];
  },
};

function lengthOf(parts: Iterable<string>): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}
