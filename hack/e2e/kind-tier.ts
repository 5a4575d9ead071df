import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { SCENARIOS } from '../../test/conformance/scenarios.ts';
import { chooseScenarios } from './choose.ts';
import { startKindCluster } from './kind-cluster.ts';
import { isOnPath } from './on-path.ts';
import type { Options } from './options.ts';
import { failedOf, type NotRun, type SuiteResults } from './outcome.ts';
import { runScenarios } from './run-scenarios.ts';
import { runTutorial } from './tutorial.ts';
import { runUpstream } from './upstream-suite.ts';

/** Makes the cluster and runs our image in it. */
const KIND_UP = 'hack/kind-up.sh';

/** What is missing for this tier; undefined when nothing is. */
export function whyNoKind(): string | undefined {
  const missing = ['kind', 'kubectl', 'docker'].filter((program) => !isOnPath(program));
  if (missing.length > 0) return `${missing.join(' and ')} not on PATH`;
  if (!existsSync(KIND_UP)) return `there is no ${KIND_UP}`;
  return undefined;
}

/**
 * The scenarios that need no lab, as pods of a kind cluster, and the tutorial; then upstream's own where a runner of theirs is.
 * One family after another, each in a cluster that is deleted afterwards, but for one that could not be made or tried.
 */
export async function runKindTier(
  options: Options,
  tell: (line: string) => void,
): Promise<{ readonly results: readonly SuiteResults[]; readonly notRun: readonly NotRun[] }> {
  const reason = whyNoKind();
  if (reason !== undefined) return { results: [], notRun: [{ suite: 'kind', reason }] };
  const results: SuiteResults[] = [];
  const notRun: NotRun[] = [];
  for (const family of options.families) {
    const folder = join(options.out, `kind-${family}`);
    mkdirSync(folder, { recursive: true });
    const startedMs = performance.now();
    const seconds = () => Math.round((performance.now() - startedMs) / 100) / 10;
    const suite = { suite: `kind ${family}`, against: 'a kind cluster' };
    const name = `ipvs-proxier-e2e-${family}`;
    try {
      await execa('bash', [KIND_UP, name], { stdio: 'inherit', env: { KIND_IP_FAMILY: family, WORKERS: '3' } });
      await execa('kubectl', ['config', 'use-context', `kind-${name}`]);
      const cluster = await startKindCluster(family, folder);
      const startSeconds = seconds();
      const wanted = chooseScenarios(SCENARIOS, family, options).filter(
        ({ lab, alone }) => lab !== true && alone !== true,
      );
      const outcomes = await runScenarios(cluster, wanted, options.atOnce).finally(() => cluster.stop());
      const all = [...outcomes, await runTutorial()];
      results.push({ ...suite, seconds: seconds(), startSeconds, outcomes: all });
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      const outcomes = [{ name: 'the cluster can be made', seconds: seconds(), failure }];
      results.push({ ...suite, seconds: seconds(), startSeconds: seconds(), outcomes });
      continue;
    }
    const upstream = await runUpstream(family, folder, tell);
    if ('reason' in upstream) notRun.push(upstream);
    else results.push(upstream);
    await execa('kind', ['delete', 'cluster', '--name', name], { reject: false });
  }
  for (const each of results) tell(`${each.suite}: ${failedOf(each).length} failed`);
  return { results, notRun };
}
