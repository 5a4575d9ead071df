import { parseArgs } from 'node:util';

export interface BenchArguments {
  /** Names, or beginnings of names; all when absent. */
  readonly only: readonly string[] | undefined;
  /** Instead of the sizes that each benchmark has. */
  readonly sizes: readonly number[] | undefined;
  /** File for the results. */
  readonly json: string | undefined;
  /** Folder for processor profiles. */
  readonly profile: string | undefined;
}

/** `--only NAME`, `--size N`, each as often as one likes or with commas; `--json FILE`; `--profile FOLDER`. Throws on others. */
export function parseBenchArguments(words: readonly string[]): BenchArguments {
  const list = { type: 'string', multiple: true } as const;
  const { values } = parseArgs({
    args: [...words],
    options: { only: list, size: list, json: { type: 'string' }, profile: { type: 'string' } },
  });
  const sizes = values.size?.flatMap((text) => text.split(',')).map(Number);
  if (sizes?.some((size) => !Number.isInteger(size) || size < 10))
    throw new Error('--size needs whole numbers from 10');
  return { only: values.only?.flatMap((text) => text.split(',')), sizes, json: values.json, profile: values.profile };
}

/** Those that are asked for; throws when there are none. */
export function chooseBenches<T extends { readonly name: string }>(
  all: readonly T[],
  only: BenchArguments['only'],
): readonly T[] {
  const chosen = all.filter(({ name }) => only === undefined || only.some((start) => name.startsWith(start)));
  if (chosen.length > 0) return chosen;
  throw new Error(`--only: there are ${all.map(({ name }) => name).join(', ')}`);
}
