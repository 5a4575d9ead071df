/**
 * Runs benchmarks one after the other, each in processes of its own; prints a table and, if asked, writes the results as JSON.
 *
 * Usage: npm run bench [-- --only NAME --size N --json FILE --profile FOLDER]
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseBenches, parseBenchArguments } from './arguments.ts';
import { BENCHES } from './benches.ts';
import { type Bench, type Figure, REFERENCE_SIZE } from './figure.ts';
import { type BenchResult, currentLoad, formatResult, reportOf, summarize } from './result.ts';

const { only, sizes, json, profile } = parseBenchArguments(process.argv.slice(2));
const startedAt = new Date().toISOString();
const results: BenchResult[] = [];
for (const bench of chooseBenches(BENCHES, only)) {
  for (const size of sizes ?? bench.sizes) {
    const result = runBench(bench, size);
    results.push(result);
    process.stdout.write(`${formatResult(result)}\n`);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(reportOf(startedAt, results), undefined, 2)}\n`);
  }
}

function runBench(bench: Bench, size: number): BenchResult {
  const before = currentLoad();
  const profiling =
    profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profile, `${bench.name}-${size}`)}`];
  const words = ['--expose-gc', ...profiling, join(import.meta.dirname, 'run-one.ts'), bench.name, `${size}`];
  const runs = Array.from({ length: size > REFERENCE_SIZE ? 1 : bench.processes }, (): readonly Figure[] => {
    const printed = execFileSync(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28 });
    return JSON.parse(printed.toString());
  });
  return summarize(bench, size, runs, [before, currentLoad()]);
}
