import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FamilyMode } from '../../test/conformance/plan.ts';
import type { SuiteResults } from './outcome.ts';

/** One run in a lab of its own. */
export interface LabSuite {
  readonly family: FamilyMode;
  /** Emptied first. */
  readonly folder: string;
  readonly scenarios: readonly string[];
  readonly atOnce: number;
  /** The main file of the program under test; default: this checkout's. */
  readonly program?: string;
  /** How long a change may take to show; default 120 s, for machines that have other things to do. */
  readonly patienceSeconds: number | undefined;
  /** Where its output goes, line by line. */
  readonly tell: (line: string) => void;
}

const TOP = join(import.meta.dirname, '../..');
/** Many times what it takes; a lab that hangs must not hang everything. */
const LIMIT_SECONDS = 1800;

/** Results as the lab left them; a lab that left none has one failure, with the end of what it printed. */
export async function runLabSuite(suite: LabSuite): Promise<SuiteResults> {
  const { family, folder, scenarios, atOnce, program, patienceSeconds = 120 } = suite;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const flags = ['--family', family, '--folder', folder, '--scenarios', JSON.stringify(scenarios)];
  const tuning = ['--atOnce', `${atOnce}`, '--patience', `${patienceSeconds}`];
  const chosen = program === undefined ? [] : ['--program', program];
  const command = [
    'hack/lab.sh',
    '-t',
    `${LIMIT_SECONDS}`,
    'node',
    'hack/e2e/in-lab.ts',
    ...flags,
    ...tuning,
    ...chosen,
  ];
  const { exitCode, lastLines } = await run(command, suite.tell);
  try {
    return JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
  } catch {
    const failure = `the lab ended with status ${exitCode} and left no results; its last lines:\n${lastLines.join('\n')}`;
    const outcomes = [{ name: 'the lab runs to its end', seconds: 0, failure }];
    return { suite: `lab ${family}`, against: 'nothing', seconds: 0, startSeconds: 0, outcomes };
  }
}

function run(args: readonly string[], tell: (line: string) => void) {
  return new Promise<{ readonly exitCode: number; readonly lastLines: readonly string[] }>((resolve, reject) => {
    const child = spawn('bash', args, { cwd: TOP, stdio: ['ignore', 'pipe', 'pipe'] });
    let lastLines: readonly string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (text: string) => {
        const lines = `${rest}${text}`.split('\n');
        rest = lines.pop() ?? '';
        lastLines = [...lastLines, ...lines].slice(-20);
        for (const line of lines) tell(line);
      });
    }
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode: exitCode ?? 1, lastLines }));
  });
}
