/** Runs every stage, or those whose names are given, and closes with the sum of all tests. */
import { spawn } from 'node:child_process';
import { type Count, countStage, groupsOf, notRun, STAGES, type Stage } from './stages.ts';

const wanted = process.argv.slice(2);
const stages = STAGES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
if (stages.length === 0) {
  process.stderr.write(`no such stage; there are: ${STAGES.map(({ name }) => name).join(', ')}\n`);
  process.exit(2);
}
const counts: Count[] = [];
const unrun: string[] = [];
for (const group of groupsOf(stages)) await Promise.all(group.map((stage) => runStage(stage, group.length > 1)));
if (unrun.length > 0) process.stdout.write(`\ncould not run:\n${unrun.map((line) => `  ${line}\n`).join('')}`);
const [passed, failed] = [sum(({ passed: n }) => n), sum(({ failed: n }) => n)];
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

/** One that runs beside others shows what it printed when it is done. */
async function runStage(stage: Stage, isBesideOthers: boolean): Promise<void> {
  process.stdout.write(`\n== ${stage.name}\n`);
  const startedMs = performance.now();
  const { exitCode, output } = await run(stage, !isBesideOthers);
  if (isBesideOthers) process.stdout.write(`\n== ${stage.name}, done\n${output}`);
  const count = countStage(stage.counts, exitCode, output);
  counts.push(count);
  unrun.push(...notRun(output));
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  process.stdout.write(`== ${stage.name}: ${count.passed} passed, ${count.failed} failed in ${seconds} s\n`);
}

function sum(of: (count: Count) => number): number {
  return counts.reduce((total, count) => total + of(count), 0);
}

/** Keeps what the stage prints, and shows it as it comes if asked to. */
function run(
  { command: [program = '', ...args] }: Stage,
  isShown: boolean,
): Promise<{ readonly exitCode: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    for (const [stream, shown] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ] as const) {
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (isShown) shown.write(chunk);
      });
    }
    child.once('error', reject);
    child.once('close', (exitCode) =>
      resolve({ exitCode: exitCode ?? 1, output: Buffer.concat(chunks).toString('utf8') }),
    );
  });
}
