/** One family's run, inside hack/lab.sh: makes the cluster once, runs the scenarios, writes `results.json`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../../test/conformance/cluster.ts';
import { FAMILY_MODES } from '../../test/conformance/plan.ts';
import { SCENARIOS } from '../../test/conformance/scenarios.ts';
import type { SuiteResults } from './outcome.ts';
import { runScenarios } from './run-scenarios.ts';

const { values } = parseArgs({
  options: {
    family: { type: 'string', default: 'ipv4' },
    folder: { type: 'string', default: 'out/e2e/ipv4' },
    program: { type: 'string', default: join(import.meta.dirname, '../../src/main.ts') },
    scenarios: { type: 'string', default: '[]' },
    patience: { type: 'string', default: '60' },
    atOnce: { type: 'string', default: '20' },
  },
});

const startedMs = performance.now();
const seconds = () => Math.round((performance.now() - startedMs) / 100) / 10;
const mode = FAMILY_MODES.find((each) => each === values.family);
if (mode === undefined) throw new Error(`there is no family ${values.family}`);
const names = new Set<string>(JSON.parse(values.scenarios));
const folder = resolve(values.folder);
mkdirSync(folder, { recursive: true });

const cluster = await startCluster({
  mode,
  folder,
  program: resolve(values.program),
  patienceMs: Number(values.patience) * 1000,
});
const startSeconds = seconds();
process.stdout.write(`${mode}: the cluster is there after ${startSeconds} s\n`);
const wanted = SCENARIOS.filter(({ name }) => names.has(name));
const outcomes = await runScenarios(cluster, wanted, Number(values.atOnce));
const exits = await cluster.stop();
const badExits = [...exits].filter(([, exit]) => !('exitCode' in exit) || exit.exitCode !== 0);
const ends = { name: 'ipvs-proxier ends with status 0 when it is told to', seconds: 0 };
const failure = badExits.map(([node, exit]) => `${node}: ${JSON.stringify(exit)}`).join(', ');
const results: SuiteResults = {
  suite: `lab ${mode}`,
  against: cluster.control.controlPlane.name,
  seconds: seconds(),
  startSeconds,
  outcomes: [...outcomes, failure === '' ? ends : { ...ends, failure }],
};
writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
process.exit(results.outcomes.some((outcome) => outcome.failure !== undefined) ? 1 : 0);
