import { failedOf, type NotRun, type SuiteResults } from './outcome.ts';

/** For people: each suite's counts and slowest scenarios, every failure, what did not run; "N passed, N failed" is the last line. */
export function renderSummary(results: readonly SuiteResults[], notRun: readonly NotRun[], folder: string): string {
  const failures = results.flatMap((each) => failedOf(each).map(({ name, failure = '' }) => ({ each, name, failure })));
  const total = results.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
  return [
    '',
    ...results.map(suiteLine),
    ...notRun.map(({ suite, reason }) => `${suite}: not run: ${reason}`),
    ...(failures.length === 0 ? [] : ['', `Failures; what each node held then is under ${folder}/:`]),
    ...failures.map(({ each, name, failure }) => `  ${each.suite}  ${name}\n      ${failure.split('\n')[0]}`),
    '',
    `${total - failures.length} passed, ${failures.length} failed`,
    '',
  ].join('\n');
}

function suiteLine(results: SuiteResults): string {
  const { suite, against, seconds, startSeconds, outcomes } = results;
  const failed = failedOf(results).length;
  const slowest = outcomes
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, 2)
    .map((outcome) => `${outcome.seconds} s ${outcome.name.slice(0, 70)}`);
  const counts = `${outcomes.length - failed} passed, ${failed} failed in ${Math.round(seconds)} s`;
  return `${suite}, ${against}: ${counts} (${Math.round(startSeconds)} s to start; slowest: ${slowest.join('; ')})`;
}
