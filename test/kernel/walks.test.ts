import { expect } from 'chai';
import fc from 'fast-check';
import type { Behaviour } from '../../src/desired/settings.ts';
import { KUBE_PROXY_SETS } from '../../src/kernel/ipset/definitions.ts';
import { anySettings, anyStep, FLOATING, type WalkStep } from './any-cluster.ts';
import type { ObjectJson } from './cluster-objects.ts';
import { differingLines, kernelText, programFromScratch } from './kernel-text.ts';
import { type MemoryKernel, memoryKernel } from './memory-kernel.ts';
import { LINKS, NodeUnderTest } from './node-under-test.ts';

/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));
const BEHAVIOURS: readonly (readonly Behaviour[])[] = [['documented'], ['kube-proxy'], ['documented', 'kube-proxy']];
const WALKS = 340;
const TIME_LIMIT_MS = 120_000;

describe('test/kernel/walks', () => {
  for (const behaviours of BEHAVIOURS) {
    const title = `${WALKS} walks from any state of a cluster to any other end as from scratch`;
    it(`${title}: ${behaviours.join(' and ')}, FC_SEED=${SEED}`, async () => {
      const filled = new Set<string>();
      const emptied = new Set<string>();
      const walk = fc.record({
        settings: fc.constantFrom(...behaviours).chain(anySettings),
        steps: fc.array(anyStep(behaviours), { minLength: 3, maxLength: 6 }),
      });
      const play = fc.asyncProperty(walk, async ({ settings, steps }) => {
        const node = new NodeUnderTest({ settings });
        putForeign(node.kernel);
        for (const [index, step] of steps.entries()) {
          await playStep(node, step, index + 1);
          noteSets(node, filled, emptied);
        }
      });
      const details = await fc.check(play, {
        seed: SEED,
        numRuns: WALKS,
        interruptAfterTimeLimit: TIME_LIMIT_MS - 10_000,
        markInterruptAsFailure: true,
      });
      if (details.failed) throw new Error(describeFailure(details));
      expect([...filled].sort(), 'sets with entries after some step, and without after another').to.deep.equal(
        [...emptied].sort(),
      );
      expect(filled.size, 'sets of ours').to.be.at.least(2 * KUBE_PROXY_SETS.length);
    }).timeout(TIME_LIMIT_MS);
  }
});

/** Leads the node to the step's cluster; its kernel must then be as if programmed for that cluster alone, and stay so. */
async function playStep(node: NodeUnderTest, { by, objects, floating }: WalkStep, number: number): Promise<void> {
  const moved = moveAddresses(node, floating);
  if (by.kind === 'restart' && !moved) node.restart(by.settings);
  await node.apply(objects, moved || by.kind === 'full' ? 'full' : 'normal');
  const present = kernelText(node.kernel);
  const wanted = wantedText(node, objects);
  if (present !== wanted) throw new Error(`step ${number}: not as from scratch:\n${differingLines(present, wanted)}`);
  node.takeScripts();
  for (const kind of ['normal', 'full'] as const) {
    await node.pass(kind);
    const scripts = node.takeScripts();
    if (scripts.length > 0) throw new Error(`step ${number}: another ${kind} pass writes:\n${scripts.join('')}`);
  }
}

/** Of a kernel with the same addresses and the same foreign things. */
function wantedText(node: NodeUnderTest, objects: readonly ObjectJson[]): string {
  const floating = hasFloating(node) ? FLOATING.map(withLength) : [];
  const scratch = memoryKernel({ ...LINKS, eth0: [...(LINKS.eth0 ?? []), ...floating] });
  putForeign(scratch);
  programFromScratch(scratch, objects, node.settings);
  return kernelText(scratch);
}

/** What others have on the node; no walk may touch it. */
function putForeign({ ipsets, tables }: MemoryKernel): void {
  ipsets.restore('create OTHERS hash:ip family inet hashsize 1024 maxelem 65536\nadd OTHERS 10.9.9.9\n');
  tables.IPv4.restore('*filter\n-A INPUT -m set --match-set OTHERS src -j DROP\nCOMMIT\n');
}

/** True when addresses have come or gone. */
function moveAddresses(node: NodeUnderTest, floating: boolean): boolean {
  if (hasFloating(node) === floating) return false;
  const { addresses } = node.kernel;
  for (const address of FLOATING.map(withLength)) {
    if (floating) addresses.put('eth0', address);
    else addresses.batch(`address delete ${address} dev eth0\n`);
  }
  return true;
}

function hasFloating(node: NodeUnderTest): boolean {
  return node.kernel.addresses.addresses('eth0').includes(FLOATING[0]);
}

function withLength(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

function noteSets(node: NodeUnderTest, filled: Set<string>, emptied: Set<string>): void {
  const text = node.kernel.ipsets.save();
  for (const [, name = ''] of text.matchAll(/^create (KUBE-\S+)/gm)) {
    (text.includes(`\nadd ${name} `) ? filled : emptied).add(name);
  }
}

function describeFailure<T>(details: fc.RunDetails<T>): string {
  const { seed, counterexamplePath, numRuns, numShrinks, errorInstance, counterexample } = details;
  const cause = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const [example] = (counterexample ?? []) as readonly [{ settings: unknown; steps: readonly WalkStep[] }?];
  const failing = Number(/^step (\d+)/.exec(cause)?.[1] ?? Number.POSITIVE_INFINITY);
  const steps = (example?.steps ?? [])
    .slice(0, failing)
    .flatMap(({ by, floating, objects }, index) => [
      `step ${index + 1}: ${JSON.stringify(by)}, second addresses ${floating ? 'on' : 'off'} eth0`,
      ...objects.map((object) => `  ${JSON.stringify(object)}`),
    ]);
  return [
    `FC_SEED=${seed}, path ${counterexamplePath}, after ${numRuns} walks and ${numShrinks} shrinks:`,
    cause.slice(0, 3000),
    `settings ${JSON.stringify(example?.settings)}`,
    ...steps,
  ].join('\n');
}
