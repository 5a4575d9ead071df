import { join } from 'node:path';
import { execa } from 'execa';
import type { FamilyMode } from '../../test/conformance/plan.ts';
import { isOnPath } from './on-path.ts';
import type { NotRun, SuiteResults } from './outcome.ts';

const FOCUS = String.raw`\[sig-network\]`;
const SKIP = [
  String.raw`\[Disruptive\]|\[Serial\]|\[Slow\]|\[Flaky\]|\[Feature:.+\]|NetworkPolicy|Netpol|GCE`,
  'should create pod that uses dns|should provide Internet connection|sctp',
].join('|');

/**
 * Upstream's own tests against kubectl's current cluster, by hydrophone or else e2e.test. One outcome for the whole: theirs are in
 * the JUnit file that the runner leaves in `folder`.
 */
export async function runUpstream(
  family: FamilyMode,
  folder: string,
  tell: (line: string) => void,
): Promise<SuiteResults | NotRun> {
  const suite = `upstream's own ${family}`;
  const command = commandFor(folder);
  if (command === undefined) return { suite, reason: 'neither hydrophone nor e2e.test on PATH' };
  const [program = '', ...args] = command;
  tell(`${suite}: ${program}`);
  const startedMs = performance.now();
  const { exitCode, shortMessage } = await execa(program, args, { stdio: 'inherit', reject: false });
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const failure = exitCode === 0 ? {} : { failure: shortMessage ?? 'it failed' };
  const outcomes = [{ name: `${program}, results in ${folder}`, seconds, ...failure }];
  return { suite, against: 'a kind cluster', seconds, startSeconds: 0, outcomes };
}

function commandFor(folder: string): readonly string[] | undefined {
  if (isOnPath('hydrophone')) return ['hydrophone', '--focus', FOCUS, '--skip', SKIP, '--output-dir', folder];
  if (!isOnPath('e2e.test')) return undefined;
  const kubeconfig = process.env.KUBECONFIG ?? join(process.env.HOME ?? '', '.kube/config');
  const suite = [`--ginkgo.focus=${FOCUS}`, `--ginkgo.skip=${SKIP}`, `--report-dir=${folder}`, '--provider=local'];
  return ['e2e.test', ...suite, `--kubeconfig=${kubeconfig}`];
}
