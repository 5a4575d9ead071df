/** What hack/e2e.sh starts: chooses, runs the tiers, reports. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { whyNoRealControlPlane } from '../../test/conformance/real-binaries.ts';
import { SCENARIOS } from '../../test/conformance/scenarios.ts';
import { chooseScenarios } from './choose.ts';
import { renderJunit } from './junit.ts';
import { runKindTier, whyNoKind } from './kind-tier.ts';
import { runLabSuite } from './lab-suite.ts';
import { runMutants } from './mutants.ts';
import { type Options, parseOptions } from './options.ts';
import { failedOf, type NotRun, type SuiteResults } from './outcome.ts';
import { runAtOnce } from './run-at-once.ts';
import { renderSummary } from './summary.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args);
  } catch (error) {
    process.stderr.write(`hack/e2e.sh: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const count = options.families.reduce((sum, family) => sum + chooseScenarios(SCENARIOS, family, options).length, 0);
  if (count === 0 && options.what !== 'mutants') {
    process.stderr.write('hack/e2e.sh: no scenario is left\n');
    return 2;
  }
  switch (options.what) {
    case 'list':
      for (const family of options.families) {
        for (const { name } of chooseScenarios(SCENARIOS, family, options)) tell(`${family}  ${name}`);
      }
      return 0;
    case 'mutants':
      return runMutants(options, tell);
    case 'run':
      return options.tier === 'lab' ? runLab(options) : runKind(options);
  }
}

async function runLab(options: Options): Promise<number> {
  const suites = options.families.map((family) => () => {
    const scenarios = chooseScenarios(SCENARIOS, family, options).map(({ name }) => name);
    const { atOnce, patienceSeconds } = options;
    return runLabSuite({ family, folder: join(options.out, family), scenarios, atOnce, patienceSeconds, tell });
  });
  const results = await runAtOnce(options.jobs, suites);
  const notRun = [
    ...notRunFor('lab with a real control plane', whyNoRealControlPlane(process.env)),
    { suite: 'kind', reason: whyNoKind() ?? 'it was not asked for (--tier kind)' },
  ];
  return report(results, notRun, options);
}

async function runKind(options: Options): Promise<number> {
  const { results, notRun } = await runKindTier(options, tell);
  const status = report(results, [{ suite: 'lab', reason: 'it was not asked for' }, ...notRun], options);
  return results.length === 0 ? 1 : status;
}

function report(results: readonly SuiteResults[], notRun: readonly NotRun[], { junit, out }: Options): number {
  if (junit !== undefined) writeFileSync(junit, renderJunit(results, notRun));
  process.stdout.write(renderSummary(results, notRun, out));
  return results.some((each) => failedOf(each).length > 0) ? 1 : 0;
}

function notRunFor(suite: string, reason: string | undefined): readonly NotRun[] {
  return reason === undefined ? [] : [{ suite, reason }];
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
