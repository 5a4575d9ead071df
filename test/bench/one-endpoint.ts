import { getHeapStatistics } from 'node:v8';
import { programmedKernel } from './bench-node.ts';
import { changingNode, preparedNode } from './changing-node.ts';
import { clusterObjects } from './cluster.ts';
import { type Bench, type Figure, SIZES } from './figure.ts';
import { watchHost } from './hosts.ts';
import { measure } from './measure.ts';

/** One endpoint of one Service goes and comes back, a normal pass each time. */
export const oneEndpoint: Bench = {
  name: 'one-endpoint',
  title: 'one endpoint changes: the event is recorded, and a normal pass',
  sizes: SIZES,
  processes: 1,
  run: async (size) => {
    const cluster = clusterObjects(size);
    const change = await preparedNode(cluster);
    const samples = await measure(change, { warmUp: 400, samples: 20 });
    return [
      {
        what: 'event and pass, on a machine that takes no time',
        unit: 'ms',
        samples,
        goal: { atMost: 1, at: 'every size' },
      },
      { what: 'allocated by them', unit: 'MB', samples: [await allocatedBy(change)] },
      ...(await countWrites(cluster)),
    ];
  },
};

const CHANGES = 10;

async function allocatedBy(change: () => Promise<void>): Promise<number> {
  const before = getHeapStatistics().total_allocated_bytes;
  for (let index = 0; index < CHANGES; index += 1) await change();
  return (getHeapStatistics().total_allocated_bytes - before) / CHANGES / 1e6;
}

async function countWrites(cluster: ReturnType<typeof clusterObjects>): Promise<readonly Figure[]> {
  const host = watchHost((await programmedKernel(cluster)).kernel);
  const change = await changingNode(host, cluster);
  const [lines, processes]: [number[], number[]] = [[], []];
  for (let index = 0; index < CHANGES; index += 1) {
    host.takeSpent();
    await change();
    const spent = host.takeSpent();
    lines.push(spent.lines);
    processes.push(spent.processes);
  }
  const one = { goal: { atMost: 1, at: 'every size' } } as const;
  return [
    { what: 'lines written to a kernel in memory', unit: 'lines', samples: lines, ...one },
    { what: 'processes', unit: 'processes', samples: processes, ...one },
  ];
}
