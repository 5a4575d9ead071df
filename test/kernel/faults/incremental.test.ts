import { expect } from 'chai';
import fc from 'fast-check';
import { Kernel } from '../../../src/apply/kernel.ts';
import type { Behaviour, ProxySettings } from '../../../src/desired/settings.ts';
import { ownSets } from '../../../src/kernel/ipset/definitions.ts';
import { realsByKey } from '../../../src/kernel/ipvs/real-servers.ts';
import type { ObservedState } from '../../../src/kernel/state.ts';
import { FAMILIES, type Family } from '../../../src/net/family.ts';
import { anySettings, anyStep } from '../any-cluster.ts';
import type { ObjectJson } from '../cluster-objects.ts';
import { differingLines, kernelText, programFromScratch } from '../kernel-text.ts';
import { memoryKernel } from '../memory-kernel.ts';
import { LINKS, NodeUnderTest } from '../node-under-test.ts';
import { merge } from './any-fault.ts';
import { putForeignRules } from './foreign.ts';

/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));
const BEHAVIOURS: readonly Behaviour[] = ['documented', 'kube-proxy'];
const WALKS = 150;
const TIME_LIMIT_MS = 120_000;

/** A change of a few Services or of a node, which a normal pass hears of. */
interface Change {
  readonly objects: readonly ObjectJson[];
  readonly unchanged: readonly number[];
  /** What drains is looked at before the next change comes. */
  readonly looks: boolean;
}

describe('test/kernel/faults/incremental', () => {
  for (const behaviour of BEHAVIOURS) {
    for (const lingering of ['cut', 'left to end'] as const) {
      const title = `after ${WALKS} walks of normal passes alone, a full one writes nothing and finds what was known: ${behaviour}`;
      it(`${title}, connections of deleted Services ${lingering}, FC_SEED=${SEED}`, async () => {
        const change = fc.record({
          objects: anyStep([behaviour]).map(({ objects }) => objects),
          unchanged: fc.subarray([1, 2, 3]),
          looks: fc.boolean(),
        });
        const walk = fc.record({
          settings: anySettings(behaviour),
          changes: fc.array(change, { minLength: 3, maxLength: 8 }),
        });
        const ofDeletedServices = lingering === 'left to end';
        const play = fc.asyncProperty(walk, ({ settings, changes }) =>
          playChanges(settings, changes, ofDeletedServices),
        );
        await fc.assert(play, { seed: SEED, numRuns: WALKS });
      }).timeout(TIME_LIMIT_MS);
    }
  }
});

async function playChanges(
  settings: ProxySettings,
  changes: readonly Change[],
  ofDeletedServices: boolean,
): Promise<void> {
  const node = new NodeUnderTest({ settings, draining: { limitMs: 60_000, ofDeletedServices } });
  putForeignRules(node.kernel);
  let objects: readonly ObjectJson[] = [];
  for (const change of changes) {
    objects = merge(objects, change.objects, change.unchanged);
    node.record(objects);
    const report = await (change.looks ? node.pass() : node.tryPass('normal'));
    expect(report.errors).to.deep.equal([]);
  }
  await endAllDrains(node);
  expect(knownTo(node.held)).to.deep.equal(await freshlyRead(node));
  node.takeScripts();
  await node.pass('full');
  expect(node.takeScripts(), 'scripts of a full pass').to.deep.equal([]);
  const scratch = memoryKernel(LINKS);
  putForeignRules(scratch);
  programFromScratch(scratch, objects, settings);
  expect(differingLines(kernelText(node.kernel), kernelText(scratch))).to.equal('the same lines in another order');
}

/** They were seen first at different times, so the looks at them are due at different times too. */
async function endAllDrains(node: NodeUnderTest): Promise<void> {
  for (let report = await node.pass(), looks = 1; report.families.some(({ draining }) => draining > 0); looks += 1) {
    expect(looks).to.be.below(10);
    report = await node.pass();
  }
}

async function freshlyRead(node: NodeUnderTest): Promise<unknown> {
  const kernel = new Kernel(node.kernel, FAMILIES, () => 0);
  await kernel.refresh();
  return knownTo(kernel);
}

function knownTo(kernel: Pick<Kernel, 'known'>): unknown {
  return FAMILIES.map((family: Family) => {
    const known = kernel.known(family);
    return known.ok ? comparable(known.value) : known.error;
  });
}

/** Without the order of maps, without sets that are not of the family, and without what nobody has counted. */
function comparable({ family, ipvs, sets, dummy, tables }: ObservedState): unknown {
  const own = ownSets(family);
  const sorted = <V, R>(map: ReadonlyMap<string, V>, of: (value: V) => R) =>
    [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, of(value)]);
  return {
    ipvs: sorted(ipvs, ({ realServers, ...server }) => ({
      ...server,
      realServers: sorted(realsByKey(realServers), ({ connections: _, ...real }) => real),
    })),
    sets: sorted(new Map([...sets].filter(([name]) => own.names.includes(name))), ({ entries, ...set }) => ({
      ...set,
      entries: [...entries].sort(),
    })),
    dummy: { exists: dummy.exists, addresses: [...dummy.addresses].sort() },
    tables: [tables.nat, tables.filter].map((table) => sorted(table, (rules) => rules)),
  };
}
