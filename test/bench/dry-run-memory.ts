import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { formatDryRun } from '../../src/cli/output.ts';
import { computeOnce } from '../../src/sync/compute-once.ts';
import { settings } from '../builders/objects.ts';
import { benchNode, clusterObjects } from './cluster.ts';
import { type Bench, REFERENCE_SIZE } from './figure.ts';
import { collectGarbage } from './measure.ts';

/** How much more memory it takes to have the wanted state as text. Whole copies of the text show as whole numbers. */
export const dryRunMemory: Bench = {
  name: 'dry-run-memory',
  title: 'memory of a dry run beyond the state that it renders',
  sizes: [REFERENCE_SIZE],
  processes: 3,
  run: async (size) => {
    const objects = clusterObjects(size);
    const families = computeOnce(objects, benchNode(), ['IPv4'], settings());
    collectGarbage();
    const before = { live: liveBytes(), resident: residentBytes('VmRSS') };
    forgetPeak();
    const parts = () => formatDryRun({ families, sysctls: [], warnings: [] }, 'script');
    const length = await write(parts());
    const peak = residentBytes('VmHWM');
    let live = 0;
    await write(parts(), (written) => {
      if (live > 0 || written < length / 2) return;
      collectGarbage();
      live = liveBytes();
    });
    return [
      { what: 'text', unit: 'MB', samples: [length / 1e6] },
      { what: 'live objects before', unit: 'MB', samples: [before.live / 1e6] },
      {
        what: 'held while the text is written ÷ text',
        unit: '×',
        samples: [(live - before.live) / length],
        goal: { atMost: 1.1, at: 'reference' },
      },
      {
        what: 'growth of peak RSS while rendering ÷ text',
        unit: '×',
        samples: [(peak - before.resident) / length],
        goal: { atMost: 2, at: 'reference' },
      },
    ];
  },
};

/** As a dry run does it. Gives the number of characters; `after` hears of those that have been written so far. */
async function write(parts: Iterable<string>, after: (written: number) => void = () => {}): Promise<number> {
  const sink = createWriteStream('/dev/null');
  let written = 0;
  for (const part of parts) {
    await new Promise((resolve) => sink.write(part, resolve));
    written += part.length;
    after(written);
  }
  sink.end();
  return written;
}

function liveBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Source: proc(5), /proc/pid/clear_refs */
function forgetPeak(): void {
  writeFileSync('/proc/self/clear_refs', '5');
}

function residentBytes(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
