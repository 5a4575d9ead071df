/** One part of the whole test run: a command, and how its outcome is counted. */
export interface Stage {
  readonly name: string;
  readonly command: readonly string[];
  /** `check`: one test, passed with status 0. `mocha`: as many tests as mocha says. `own`: as its last line. */
  readonly counts: 'check' | 'mocha' | 'own';
  /** Neighbours with the same one run side by side, as each has a kernel of its own with one processor. */
  readonly beside?: string;
}

export const STAGES: readonly Stage[] = [
  { name: 'types', command: ['npm', 'run', '--silent', 'types'], counts: 'check' },
  { name: 'lint', command: ['npm', 'run', '--silent', 'lint'], counts: 'check' },
  { name: 'layers', command: ['npm', 'run', '--silent', 'layers'], counts: 'check' },
  { name: 'dead code', command: ['npm', 'run', '--silent', 'dead'], counts: 'check' },
  { name: 'unit tests', command: ['mocha', '--reporter', 'dot'], counts: 'mocha' },
  labStage('tests in a real kernel, a to reo', 'test/lab/{[a-q],re[a-o]}*.test.ts'),
  labStage('tests in a real kernel, rep to z', 'test/lab/{re[p-z],r[f-z],[s-z]}*.test.ts'),
  { name: 'conformance, a handful', command: ['bash', 'hack/e2e.sh', '--smoke'], counts: 'own' },
];

function labStage(name: string, files: string): Stage {
  const command = ['bash', 'hack/lab.sh', '-t', '3000', 'mocha', '--config', '.mocharc.lab.json', '--spec', files];
  return { name, command, counts: 'mocha', beside: 'lab' };
}

/** Stages that run at the same time, in the order of the list. */
export function groupsOf(stages: readonly Stage[]): readonly (readonly Stage[])[] {
  const groups: Stage[][] = [];
  for (const stage of stages) {
    const last = groups.at(-1);
    if (last && stage.beside !== undefined && last[0]?.beside === stage.beside) last.push(stage);
    else groups.push([stage]);
  }
  return groups;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Counts one stage by its status and what it printed. A mocha run that ends badly without a failed test, or whose summary is missing,
 * counts as one failure: a run that tells nothing has not passed. A test that says it could not run is not counted as passed.
 */
export function countStage(counts: Stage['counts'], exitCode: number, output: string): Count {
  if (counts === 'check') return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  if (counts === 'own') return countOwn(exitCode, output);
  const passed = summary(output, 'passing');
  const failed = summary(output, 'failing') ?? 0;
  if (passed === undefined) return { passed: 0, failed: Math.max(1, failed) };
  return { passed: passed - notRun(output).length, failed: exitCode === 0 ? failed : Math.max(1, failed) };
}

function countOwn(exitCode: number, output: string): Count {
  const [, passed, failed] =
    /^(\d+) passed, (\d+) failed\n*$/m.exec(output.slice(output.trimEnd().lastIndexOf('\n') + 1)) ?? [];
  if (passed === undefined) return { passed: 0, failed: 1 };
  return { passed: Number(passed), failed: exitCode === 0 ? Number(failed) : Math.max(1, Number(failed)) };
}

/** Tests that could not run say so in a line of their own, with the reason. */
export function notRun(output: string): readonly string[] {
  return [...output.matchAll(/^.*?(NOT RUN .+)$/gm)].map(([, line]) => line ?? '');
}

function summary(output: string, word: string): number | undefined {
  const lines = [...output.matchAll(new RegExp(String.raw`^\s*(\d+) ${word}\b`, 'gm'))];
  const last = lines.at(-1)?.[1];
  return last === undefined ? undefined : Number(last);
}
