import type { MemoryKernel } from '../kernel/memory-kernel.ts';
import { pass, programmedKernel, proxierOn, recordCluster } from './bench-node.ts';
import { clusterObjects } from './cluster.ts';
import { type Bench, type Figure, SIZES } from './figure.ts';
import { machineTexts, preparedHost, watchHost } from './hosts.ts';
import { realServers, virtualServers } from './kernel-lines.ts';
import { processorMs } from './measure.ts';

/** A daemon that starts on a node which an earlier one has programmed. */
export const restart: Bench = {
  name: 'restart',
  title: 'first pass of a daemon on a table that is right, or nearly so',
  sizes: SIZES,
  processes: 1,
  run: async (size) => {
    const cluster = clusterObjects(size);
    const { kernel } = await programmedKernel(cluster);
    const figures: Figure[] = [];
    for (const differences of [0, 1, 100]) {
      breakTable(kernel, differences);
      const host = watchHost(preparedHost([await machineTexts(kernel)]));
      const proxier = proxierOn(host);
      recordCluster(proxier, cluster);
      const startMs = processorMs();
      await pass(proxier, 'full');
      const tookMs = processorMs() - startMs;
      const { lines } = host.takeSpent();
      await repair(kernel, cluster);
      const goal = { atMost: differences, at: 'every size' } as const;
      const table = `${differences} differences`;
      figures.push(
        { what: `lines written, ${table}`, unit: 'lines', samples: [lines], goal },
        { what: `first pass, ${table}`, unit: 'ms', samples: [tookMs] },
      );
    }
    return figures;
  },
};

/** So many lines put it right: real servers that are missing, that have another weight, and that are too many. */
function breakTable({ ipvs }: MemoryKernel, differences: number): void {
  const text = ipvs.save();
  const servers = virtualServers(text);
  const reals = realServers(text);
  const step = Math.floor(reals.length / (differences + 1));
  const lines = Array.from({ length: differences }, (_, index) => {
    const { server, real } = reals[(index + 1) * step] ?? { server: '', real: '' };
    const added = `-a ${servers[index % servers.length]} -r 192.0.2.${index}:80 -m -w 1`;
    return [`-d ${server} -r ${real}`, `-e ${server} -r ${real} -m -w 7`, added][index % 3];
  });
  const { exitCode, stderr } = ipvs.restore(lines.map((line) => `${line}\n`).join(''));
  if (exitCode !== 0) throw new Error(stderr);
}

async function repair(kernel: MemoryKernel, cluster: ReturnType<typeof clusterObjects>): Promise<void> {
  const proxier = proxierOn(kernel);
  recordCluster(proxier, cluster);
  await pass(proxier, 'full');
  kernel.calls.length = 0;
}
