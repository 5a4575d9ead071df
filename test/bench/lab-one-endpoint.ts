import { systemHost } from '../../src/apply/host.ts';
import { EMPTY_NODE_SCRIPT } from '../lab/empty-node.ts';
import { changingNode } from './changing-node.ts';
import { clusterObjects } from './cluster.ts';
import { atMost, inTurn, type LabBench, ratioFigures } from './lab-bench.ts';
import { bareMs, run, scriptFile, timeHost } from './lab-host.ts';

/** From the event to the kernel that has it, without the time that a change waits by design, against the tool alone with one such line. */
export const labOneEndpoint: LabBench = {
  name: 'lab-one-endpoint',
  title: 'one endpoint changes, event to kernel, against `ipvsadm -R` of one line',
  size: 1_000,
  run: async (size) => {
    run('sh', '-c', EMPTY_NODE_SCRIPT);
    bareMs(['ipvsadm', '-R'], scriptFile(`-A ${FOREIGN} -s rr\n`));
    const host = timeHost(systemHost);
    const change = await changingNode(host, clusterObjects(size));
    const lines = ['-a', '-d'].map((command) =>
      scriptFile(`${command} ${FOREIGN} -r 192.0.2.2:80${OPTIONS[command]}\n`),
    );
    for (let index = 0; index < WARM_UP; index += 1) await change();
    host.takeSpans();
    const processes: number[] = [];
    const tools: number[] = [];
    const times = await inTurn(
      PAIRS,
      async () => {
        const startMs = performance.now();
        await change();
        const tookMs = performance.now() - startMs;
        const spans = host.takeSpans();
        processes.push(spans.length);
        tools.push(spans.reduce((sum, { startMs: from, endMs }) => sum + endMs - from, 0));
        return tookMs;
      },
      (pair) => bareMs(['ipvsadm', '-R'], lines[pair % 2]),
    );
    return [
      ...ratioFigures({ ours: 'event to kernel', bare: 'bare `ipvsadm -R`' }, times, atMost(1.3)),
      { what: 'of which tools', unit: 'ms', samples: tools },
      { what: 'processes of a change', unit: 'processes', samples: processes, goal: atMost(1) },
    ];
  },
};

/** A virtual server that is not ours, and stays. */
const FOREIGN = '-t 192.0.2.1:80';
const OPTIONS: Readonly<Record<string, string>> = { '-a': ' -m -w 1', '-d': '' };
const WARM_UP = 30;
const PAIRS = 40;
