import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../test/conformance/cluster.ts';
import type { Scenario } from '../../test/conformance/scenario.ts';
import { SCENARIOS } from '../../test/conformance/scenarios.ts';
import { createWorld } from '../../test/conformance/world.ts';
import { keepEvidence } from './evidence.ts';
import type { Outcome } from './outcome.ts';

/** Past this a scenario has failed, whatever it still waits for. */
const LIMIT_MS = 600_000;

/** Runs those that disturb nobody first, `atOnce` of them at a time, then the others one by one. Tells of each when it is over. */
export async function runScenarios(
  cluster: Cluster,
  scenarios: readonly Scenario[],
  atOnce: number,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const together = scenarios.filter(({ alone }) => alone !== true);
  const waiting = [...together];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      outcomes.push(await runScenario(cluster, next));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  for (const scenario of scenarios) {
    if (scenario.alone === true) outcomes.push(await runScenario(cluster, scenario));
  }
  return outcomes;
}

async function runScenario(cluster: Cluster, scenario: Scenario): Promise<Outcome> {
  const world = createWorld(cluster, SCENARIOS.indexOf(scenario) + 1);
  const startedMs = performance.now();
  const failure = await failureOf(() => Promise.race([scenario.run(world), tooLong()]));
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  if (failure !== undefined) await keepEvidence(cluster, world.namespace, scenario.name, failure);
  const mess = await failureOf(() => world.cleanUp());
  const outcome = {
    name: scenario.name,
    seconds,
    ...((failure ?? mess) ? { failure: failure ?? `afterwards: ${mess}` } : {}),
  };
  process.stdout.write(
    `${cluster.mode}  ${outcome.failure === undefined ? 'ok  ' : 'FAIL'} ${seconds.toFixed(1).padStart(6)} s  ${scenario.name}\n`,
  );
  if (outcome.failure !== undefined) process.stdout.write(`${indent(outcome.failure)}\n`);
  return outcome;
}

async function failureOf(run: () => Promise<void>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function tooLong(): Promise<never> {
  await sleep(LIMIT_MS, undefined, { ref: false });
  throw new Error(`not over after ${LIMIT_MS / 1000} s`);
}

function indent(text: string): string {
  return text
    .split('\n')
    .slice(0, 12)
    .map((line) => `        ${line}`)
    .join('\n');
}
