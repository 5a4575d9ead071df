import { Kernel } from '../../src/apply/kernel.ts';
import type { PassKind } from '../../src/sync/proxier.ts';
import { pass, programmedKernel, proxierOn, recordCluster } from './bench-node.ts';
import { clusterObjects } from './cluster.ts';
import { type Bench, SIZES } from './figure.ts';
import { machineTexts, preparedHost, type Spent, watchHost } from './hosts.ts';
import { measure } from './measure.ts';

/** Passes with nothing to do, on a machine that takes no time. */
export const idlePass: Bench = {
  name: 'idle-pass',
  title: 'passes with nothing to do',
  sizes: SIZES,
  processes: 1,
  run: async (size) => {
    const cluster = clusterObjects(size);
    const texts = await machineTexts((await programmedKernel(cluster)).kernel);
    const host = watchHost(preparedHost([texts]));
    const proxier = proxierOn(host);
    recordCluster(proxier, cluster);
    await pass(proxier, 'full');
    const spentBy = async (kind: PassKind): Promise<Spent> => {
      host.takeSpent();
      await pass(proxier, kind);
      return host.takeSpent();
    };
    const [ofNormal, ofFull] = [await spentBy('normal'), await spentBy('full')];
    const kernel = new Kernel(host, ['IPv4'], () => performance.now());
    await kernel.refresh();
    const bounds = { warmUp: 20, samples: 15 };
    const normal = await measure(() => pass(proxier, 'normal'), bounds);
    const full = await measure(() => pass(proxier, 'full'), bounds);
    const refresh = await measure(() => kernel.refresh(), bounds);
    const none = { goal: { atMost: 0, at: 'every size' } } as const;
    return [
      { what: 'pass from memory', unit: 'ms', samples: normal, goal: { atMost: 2, at: 'reference' } },
      { what: 'processes of it', unit: 'processes', samples: [ofNormal.processes], ...none },
      { what: 'lines of it', unit: 'lines', samples: [ofNormal.lines], ...none },
      { what: 'pass that reads the kernel', unit: 'ms', samples: full, goal: { atMost: 80, at: 'reference' } },
      { what: 'of which parsing everything once', unit: 'ms', samples: refresh },
      { what: 'processes of it', unit: 'processes', samples: [ofFull.processes] },
      { what: 'lines of it', unit: 'lines', samples: [ofFull.lines], ...none },
    ];
  },
};
