import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import type { Outcome } from './outcome.ts';

const PAGE = 'docs/tutorials/kind.md';

/** Commands of a page, in its order, without those that make or delete the cluster. */
export function commandsOf(page: string): string {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const lines = blocks.join('').split('\n');
  return lines
    .filter((line) => !/^(bash hack\/kind-up\.sh|kubectl config use-context|kind delete) ?/.test(line))
    .join('\n');
}

/** What a newcomer types, in the cluster that kubectl leads to; what it printed is the failure's text. */
export async function runTutorial(): Promise<Outcome> {
  const startedMs = performance.now();
  const ran = await execa('bash', ['-euo', 'pipefail', '-c', commandsOf(readFileSync(PAGE, 'utf8'))], {
    reject: false,
    all: true,
    timeout: 900_000,
  });
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  return {
    name: 'the tutorial works as it is written',
    seconds,
    ...(ran.failed ? { failure: ran.all ?? ran.message } : {}),
  };
}
