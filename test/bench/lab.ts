/**
 * Runs the benchmarks that need a kernel; they change the machine they run on.
 *
 * Usage: hack/lab.sh -t 900 node --expose-gc test/bench/lab.ts [--only NAME] [--size N] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { requireLab } from '../lab/in-lab.ts';
import { chooseBenches, parseBenchArguments } from './arguments.ts';
import type { LabBench } from './lab-bench.ts';
import { labFullProgramming } from './lab-full-programming.ts';
import { labIpsetFill } from './lab-ipset-fill.ts';
import { labOneEndpoint } from './lab-one-endpoint.ts';
import { labReadKernel } from './lab-read-kernel.ts';
import { type BenchResult, currentLoad, formatResult, reportOf, summarize } from './result.ts';

const LAB_BENCHES: readonly LabBench[] = [labOneEndpoint, labReadKernel, labFullProgramming, labIpsetFill];

requireLab();
const { only, sizes, json } = parseBenchArguments(process.argv.slice(2));
const startedAt = new Date().toISOString();
const results: BenchResult[] = [];
for (const bench of chooseBenches(LAB_BENCHES, only)) {
  const size = sizes?.[0] ?? bench.size;
  const before = currentLoad();
  const result = summarize(bench, size, [await bench.run(size)], [before, currentLoad()]);
  results.push(result);
  process.stdout.write(`${formatResult(result)}\n`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(reportOf(startedAt, results), undefined, 2)}\n`);
}
