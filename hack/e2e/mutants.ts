import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SCENARIOS } from '../../test/conformance/scenarios.ts';
import { chooseScenarios } from './choose.ts';
import { runLabSuite } from './lab-suite.ts';
import { MUTANTS, type Mutant } from './mutant-list.ts';
import type { Options } from './options.ts';
import { failedOf } from './outcome.ts';
import { runAtOnce } from './run-at-once.ts';

const TOP = join(import.meta.dirname, '../..');
/** Less than whole runs have: scenarios that notice wait all of it. */
const PATIENCE_SECONDS = 45;
/** Runs first and alone: if the program itself fails here, that a mutant fails tells nothing. */
const CONTROL = { name: 'nothing broken', family: 'dual' } as const;

interface Verdict {
  readonly name: string;
  readonly isGood: boolean;
  readonly text: string;
}

/** Status 0 when the unbroken program passes and every mutant is noticed. `--focus` chooses mutants by name. */
export async function runMutants(options: Options, tell: (line: string) => void): Promise<number> {
  const mutants = MUTANTS.filter(({ name }) => options.focus?.test(name) ?? true);
  for (const mutant of mutants) build(mutant, options.out);
  const control = await tryControl(mutants, options, tell);
  const tasks = mutants.map((mutant) => () => tryMutant(mutant, options, tell));
  const verdicts = [control, ...(await runAtOnce(options.jobs, tasks))];
  tell('');
  for (const { name, text } of verdicts) tell(`${name}: ${text}`);
  const good = verdicts.filter(({ isGood }) => isGood).length;
  tell(`\n${good} passed, ${verdicts.length - good} failed`);
  return good === verdicts.length ? 0 : 1;
}

async function tryControl(
  mutants: readonly Mutant[],
  options: Options,
  tell: (line: string) => void,
): Promise<Verdict> {
  const { name, family } = CONTROL;
  const scenarios = chooseScenarios(SCENARIOS, family, EVERYTHING).filter((scenario) =>
    mutants.some(({ focus }) => focus.test(scenario.name)),
  );
  const results = await runLabSuite({
    family,
    folder: join(options.out, 'mutants', slugOf(name)),
    scenarios: scenarios.map((scenario) => scenario.name),
    atOnce: options.atOnce,
    patienceSeconds: options.patienceSeconds ?? PATIENCE_SECONDS,
    tell: prefixed(name, tell),
  });
  const failed = failedOf(results);
  const text = failed.length === 0 ? `all ${results.outcomes.length} scenarios pass` : `FAILED: ${failed[0]?.failure}`;
  return { name, isGood: failed.length === 0, text };
}

async function tryMutant(mutant: Mutant, options: Options, tell: (line: string) => void): Promise<Verdict> {
  const { name, family, focus } = mutant;
  const scenarios = chooseScenarios(SCENARIOS, family, { ...EVERYTHING, focus }).map((scenario) => scenario.name);
  const folder = folderOf(mutant, options.out);
  const results = await runLabSuite({
    family,
    folder: join(folder, 'results'),
    scenarios,
    atOnce: options.atOnce,
    program: resolve(folder, 'src/main.ts'),
    patienceSeconds: options.patienceSeconds ?? PATIENCE_SECONDS,
    tell: prefixed(name, tell),
  });
  const ran = results.outcomes.filter((outcome) => scenarios.includes(outcome.name)).length;
  if (ran < scenarios.length)
    return { name, isGood: false, text: `NOT TRIED: ${failedOf(results)[0]?.failure ?? 'it was not run'}` };
  const noticed = failedOf(results).filter((outcome) => scenarios.includes(outcome.name)).length;
  const text = `${noticed > 0 ? 'caught' : 'SURVIVED'}, noticed by ${noticed} of ${scenarios.length} scenarios`;
  return { name, isGood: noticed > 0, text };
}

const EVERYTHING = { focus: undefined, skip: undefined, smoke: false };

/** A copy of the program with the replacement made; throws when there is not exactly one place for it. */
function build(mutant: Mutant, out: string): void {
  const folder = folderOf(mutant, out);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(TOP, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(TOP, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(TOP, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'src', mutant.file);
  writeFileSync(file, replaceOnce(readFileSync(file, 'utf8'), mutant));
}

/** Throws when the text to replace is not there, or more than once. */
export function replaceOnce(text: string, { name, file, search, replace }: Mutant): string {
  const places = text.split(search).length - 1;
  if (places !== 1) throw new Error(`mutant "${name}": "${search}" is ${places} times in src/${file}, not once`);
  return text.replace(search, () => replace);
}

function folderOf({ name }: Mutant, out: string): string {
  return resolve(TOP, out, 'mutants', slugOf(name));
}

function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

function prefixed(name: string, tell: (line: string) => void): (line: string) => void {
  return (line) => tell(`[${name}] ${line}`);
}
