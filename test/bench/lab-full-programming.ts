import type { ClusterObjects } from '../../src/kube/cluster-objects.ts';
import { netnsHost } from '../lab/netns-host.ts';
import { pass, proxierOn, recordCluster } from './bench-node.ts';
import { clusterObjects } from './cluster.ts';
import { atMost, inTurn, type LabBench, ratioFigures } from './lab-bench.ts';
import { bareMs, busyMs, FreshNamespaces, inside, type Span, scriptFile, timeHost, writesOf } from './lab-host.ts';

/**
 * A first pass on a node that has nothing, against the bare tools on the very scripts that it wrote. Each time in a network namespace of its own:
 * a kernel that has just lost real servers takes many times as long to add some.
 */
export const labFullProgramming: LabBench = {
  name: 'lab-full-programming',
  title: 'everything programmed from empty, against the bare tools on the same text',
  size: 1_000,
  run: async (size) => {
    const cluster = clusterObjects(size);
    const namespaces = new FreshNamespaces('bench-full');
    const { writes } = await firstPass(namespaces.make(), cluster);
    const scripts = writes.map(({ call }) => ({ call, file: scriptFile(call.input ?? '') }));
    const whole: number[] = [];
    const times = await inTurn(
      PAIRS,
      async () => {
        const { tookMs, readingMs } = await firstPass(namespaces.make(), cluster);
        whole.push(tookMs);
        return tookMs - readingMs;
      },
      () => {
        const enter = inside(namespaces.make());
        return scripts.reduce((sum, { call, file }) => sum + bareMs([...enter, call.tool, ...call.args], file), 0);
      },
    );
    namespaces.deleteAll();
    return [
      ...ratioFigures({ ours: 'computed, rendered and programmed', bare: 'bare tools' }, times, atMost(1.05)),
      { what: 'the same with reading the kernel before, by the clock', unit: 'ms', samples: whole },
      { what: 'processes that write', unit: 'processes', samples: [scripts.length] },
    ];
  },
};

/** The longer the work, the less the machine's load matters. */
const PAIRS = 7;

async function firstPass(
  namespace: string,
  cluster: ClusterObjects,
): Promise<{ readonly tookMs: number; readonly readingMs: number; readonly writes: readonly Span[] }> {
  const host = timeHost(netnsHost(namespace));
  const proxier = proxierOn(host);
  recordCluster(proxier, cluster);
  const startMs = performance.now();
  await pass(proxier, 'full');
  const tookMs = performance.now() - startMs;
  const spans = host.takeSpans();
  const writes = writesOf(spans);
  return { tookMs, readingMs: busyMs(spans) - busyMs(writes), writes };
}
