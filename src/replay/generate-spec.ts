import { suggest } from '../config/suggest.ts';
import { fail, type Result, succeed } from '../model/result.ts';

/** What happens to an endpoint, or to an object without meaning anything. */
export const CHANGE_SORTS = ['flap', 'replace', 'scale', 'minor', 'noise'] as const;
export type ChangeSort = (typeof CHANGE_SORTS)[number];

/** Which trace is made up. */
export interface GenerateSpec {
  /** Services with one EndpointSlice each. */
  readonly slices: number;
  /** In each slice, at the start. */
  readonly endpoints: number;
  readonly changesPerSecond: number;
  readonly seconds: number;
  /** Shares of the sorts of changes; what they add up to is the whole. */
  readonly mix: Readonly<Record<ChangeSort, number>>;
  readonly seed: number;
}

export const DEFAULT_SPEC: GenerateSpec = {
  slices: 500,
  endpoints: 10,
  changesPerSecond: 200,
  seconds: 60,
  mix: { flap: 70, replace: 15, scale: 10, minor: 0, noise: 5 },
  seed: 1,
};

const EMPTY_MIX: GenerateSpec['mix'] = { flap: 0, replace: 0, scale: 0, minor: 0, noise: 0 };

/**
 * Reads `slices=500,endpoints=10,changesPerSecond=200,seconds=60,mix=flap:70,replace:15,scale:10,noise:5,seed=1`. What is not given has
 * these values; a mix that is given has nothing that it does not name.
 */
export function parseGenerateSpec(words: string): Result<GenerateSpec, string> {
  let spec: GenerateSpec = DEFAULT_SPEC;
  let isInMix = false;
  for (const word of words.split(',').filter((part) => part.trim() !== '')) {
    const [, key, value = ''] = /^\s*(\w+)=(.*)$/.exec(word) ?? [];
    if (key === undefined && !isInMix) return fail(`${JSON.stringify(word)} is not of the form key=value`);
    if (key === 'mix') spec = { ...spec, mix: EMPTY_MIX };
    isInMix = key === undefined || key === 'mix';
    const next: Result<GenerateSpec, string> = isInMix
      ? withShare(spec, (key === undefined ? word : value).trim())
      : withNumber(spec, key ?? '', value.trim());
    if (!next.ok) return next;
    spec = next.value;
  }
  if (Object.values(spec.mix).every((share) => share === 0)) return fail('the mix is empty');
  return succeed(spec);
}

function withShare(spec: GenerateSpec, word: string): Result<GenerateSpec, string> {
  const [, name = '', share = ''] = /^([^:]*):?(.*)$/.exec(word) ?? [];
  const sort = CHANGE_SORTS.find((known) => known === name);
  if (!sort) return fail(`mix: ${JSON.stringify(name)} is none of ${CHANGE_SORTS.join(', ')}`);
  if (!/^\d+(\.\d+)?$/.test(share)) return fail(`mix: the share of ${name} is ${JSON.stringify(share)}, not a number`);
  return succeed({ ...spec, mix: { ...spec.mix, [sort]: Number(share) } });
}

/** The largest values that can be told apart by their addresses, or that make sense. */
const LIMITS = {
  slices: 60_000,
  endpoints: 1_000,
  changesPerSecond: 100_000,
  seconds: 86_400,
  seed: 2 ** 32 - 1,
} as const;
const MINIMA = { slices: 1, endpoints: 0, changesPerSecond: 0, seconds: 0, seed: 0 } as const;

function withNumber(spec: GenerateSpec, key: string, value: string): Result<GenerateSpec, string> {
  const known = Object.keys(LIMITS).find((name): name is keyof typeof LIMITS => name === key);
  if (!known) {
    const near = suggest(key, [...Object.keys(LIMITS), 'mix']);
    return fail(`${JSON.stringify(key)} is not known${near === undefined ? '' : `, did you mean ${near}?`}`);
  }
  const isWhole = known !== 'changesPerSecond' && known !== 'seconds';
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= MINIMA[known] && number <= LIMITS[known]) || (isWhole && !Number.isInteger(number))) {
    const range = `from ${MINIMA[known]} to ${LIMITS[known]}`;
    return fail(`${key} is ${JSON.stringify(value)}, a ${isWhole ? 'whole ' : ''}number ${range} is needed`);
  }
  return succeed({ ...spec, [known]: number });
}
