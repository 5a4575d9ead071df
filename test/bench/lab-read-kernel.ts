import { systemHost } from '../../src/apply/host.ts';
import { readIpvs, rereadIpvs } from '../../src/apply/read-ipvs.ts';
import { renderFullState } from '../../src/plan/scripts.ts';
import { computeOnce } from '../../src/sync/compute-once.ts';
import { settings } from '../builders/objects.ts';
import { EMPTY_NODE_SCRIPT } from '../lab/empty-node.ts';
import { benchNode, clusterObjects } from './cluster.ts';
import { atMost, inTurn, type LabBench, ratioFigures } from './lab-bench.ts';
import { bareMs, run, scriptFile } from './lab-host.ts';

/** What a full pass reads of virtual servers, parsed, against the tool that prints them. */
export const labReadKernel: LabBench = {
  name: 'lab-read-kernel',
  title: 'virtual servers read from the kernel, against `ipvsadm -Sn`',
  size: 1_000,
  run: async (size) => {
    run('sh', '-c', EMPTY_NODE_SCRIPT);
    const { ipvs } = renderFullState(computeOnce(clusterObjects(size), benchNode(), ['IPv4'], settings()));
    bareMs(['ipvsadm', '-R'], scriptFile(ipvs));
    const known = await readIpvs(systemHost);
    if (!known.ok) throw new Error(JSON.stringify(known.error));
    const read = async () => {
      const startMs = performance.now();
      const again = await rereadIpvs(systemHost, known.value);
      if (!again.ok || again.value.state.size !== size) throw new Error('the kernel does not have what was programmed');
      return performance.now() - startMs;
    };
    for (let index = 0; index < WARM_UP; index += 1) await read();
    const times = await inTurn(PAIRS, read, () => bareMs(['ipvsadm', '-Sn']));
    return ratioFigures({ ours: 'read and parsed', bare: 'bare `ipvsadm -Sn`' }, times, atMost(0.35));
  },
};

const WARM_UP = 20;
const PAIRS = 20;
