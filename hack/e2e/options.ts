import { parseArgs } from 'node:util';
import { FAMILY_MODES, type FamilyMode } from '../../test/conformance/plan.ts';

export type Tier = 'lab' | 'kind';

export interface Options {
  readonly tier: Tier;
  readonly what: 'run' | 'list' | 'mutants';
  readonly families: readonly FamilyMode[];
  readonly focus: RegExp | undefined;
  readonly skip: RegExp | undefined;
  readonly smoke: boolean;
  /** Path of the JUnit file; undefined: none. */
  readonly junit: string | undefined;
  readonly out: string;
  /** Labs that run at the same time. */
  readonly jobs: number;
  /** Scenarios that run at the same time in one lab. */
  readonly atOnce: number;
  /** How long a change may take to show; undefined: the default of what is run. */
  readonly patienceSeconds: number | undefined;
}

/** Throws, with a text for people, on anything it does not know. `--smoke` alone runs with both families. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      family: { type: 'string' },
      focus: { type: 'string' },
      skip: { type: 'string' },
      smoke: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      mutants: { type: 'boolean', default: false },
      junit: { type: 'string' },
      tier: { type: 'string', default: 'lab' },
      out: { type: 'string', default: 'out/e2e' },
      jobs: { type: 'string', default: '2' },
      'at-once': { type: 'string', default: '20' },
      patience: { type: 'string' },
    },
  });
  const { tier, smoke, list, mutants, junit, out } = values;
  if (tier !== 'lab' && tier !== 'kind') throw new Error(`--tier is "${tier}", but can be lab or kind`);
  return {
    tier,
    what: list ? 'list' : mutants ? 'mutants' : 'run',
    families: parseFamilies(values.family, smoke ? ['dual'] : FAMILY_MODES),
    focus: parsePattern('--focus', values.focus),
    skip: parsePattern('--skip', values.skip),
    smoke,
    junit,
    out,
    jobs: parseCount('--jobs', values.jobs),
    atOnce: parseCount('--at-once', values['at-once']),
    patienceSeconds: values.patience === undefined ? undefined : parseCount('--patience', values.patience),
  };
}

function parseFamilies(given: string | undefined, otherwise: readonly FamilyMode[]): readonly FamilyMode[] {
  if (given === undefined) return otherwise;
  const families = given.split(',').map((name) => FAMILY_MODES.find((each) => each === name));
  const known = families.filter((each) => each !== undefined);
  if (known.length < families.length) throw new Error(`--family is "${given}", but can be ${FAMILY_MODES.join(', ')}`);
  return known;
}

function parsePattern(flag: string, given: string | undefined): RegExp | undefined {
  try {
    return given === undefined ? undefined : new RegExp(given);
  } catch (error) {
    throw new Error(`${flag}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseCount(flag: string, given: string): number {
  if (!/^[1-9]\d{0,2}$/.test(given)) throw new Error(`${flag} is "${given}", but has to be a number from 1 to 999`);
  return Number(given);
}
