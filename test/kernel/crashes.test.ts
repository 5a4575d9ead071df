import { expect } from 'chai';
import fc from 'fast-check';
import type { ToolCall } from '../../src/apply/tool.ts';
import { cleanNode } from '../../src/clean-node.ts';
import { succeed } from '../../src/model/result.ts';
import { SteppedClock } from '../stepped-clock.ts';
import { anySettings, anyStep, FLOATING } from './any-cluster.ts';
import { endpointJson, nodeObject, type ObjectJson, serviceObject, sliceObject } from './cluster-objects.ts';
import { differingLines, kernelText, programFromScratch } from './kernel-text.ts';
import { type Links, type MemoryKernel, memoryKernel } from './memory-kernel.ts';
import { LINKS, NodeUnderTest } from './node-under-test.ts';

const RUNS = 400;
const TIME_LIMIT_MS = 120_000;

/** Services ask for the second addresses too, which are not bound then. */
const WITH_FLOATING: Links = {
  ...LINKS,
  eth0: [...(LINKS.eth0 ?? []), ...FLOATING.map((address) => `${address}/${address.includes(':') ? 128 : 32}`)],
};

/** After how many scripts everything is killed, and how much of the next one the kernel has seen by then. */
interface Death {
  readonly scripts: number;
  readonly part: number;
}

describe('test/kernel/crashes', () => {
  const anyDeath: fc.Arbitrary<Death> = fc.record({
    scripts: fc.nat({ max: 14 }),
    part: fc.constantFrom(0, 0.3, 0.7, 1),
  });

  for (const behaviour of ['documented', 'kube-proxy'] as const) {
    it(`starts anew after any death in any pass and ends as from scratch: ${behaviour}`, async () => {
      let deaths = 0;
      const life = fc.record({
        settings: anySettings(behaviour),
        clusters: fc.array(anyStep([behaviour]), { minLength: 1, maxLength: 3 }),
        death: anyDeath,
      });
      const play = fc.asyncProperty(life, async ({ settings, clusters, death }) => {
        const node = new NodeUnderTest({ settings });
        const last = clusters.at(-1)?.objects ?? [];
        for (const { objects } of clusters.slice(0, -1)) await node.apply(objects);
        const died = await dieIn(node.kernel, death, () => node.apply(last));
        if (died) deaths += 1;
        node.restart();
        await node.apply(last, 'full');
        expectText(node, last);
      });
      await fc.assert(play, { numRuns: RUNS });
      expect(deaths, 'passes that ended before their end').to.be.greaterThan(RUNS / 4);
    }).timeout(TIME_LIMIT_MS);

    it(`cleans up after any death in a clean-up, and leaves nothing: ${behaviour}`, async () => {
      let deaths = 0;
      const life = fc.record({ settings: anySettings(behaviour), cluster: anyStep([behaviour]), death: anyDeath });
      const play = fc.asyncProperty(life, async ({ settings, cluster, death }) => {
        const node = new NodeUnderTest({ settings, links: cluster.floating ? WITH_FLOATING : LINKS });
        const { addresses } = node.kernel;
        const [empty, own] = [kernelText(node.kernel), addresses.addresses('eth0')];
        await node.apply(cluster.objects);
        if (await dieIn(node.kernel, death, () => clean(node.kernel))) deaths += 1;
        expect(await clean(node.kernel)).to.deep.include({ messages: [], exitCode: 0 });
        const left = kernelText(node.kernel);
        if (left !== empty) throw new Error(`left:\n${differingLines(left, empty)}`);
        expect(addresses.addresses('eth0')).to.deep.equal(own);
        expect((await clean(node.kernel)).stdout).to.equal('nothing of ipvs mode is left on this node\n');
      });
      await fc.assert(play, { numRuns: RUNS });
      expect(deaths, 'clean-ups that ended before their end').to.be.greaterThan(RUNS / 4);
    }).timeout(TIME_LIMIT_MS);
  }
});

describe('test/kernel/crashes, of what is closed to the node', () => {
  it('keeps the node out of a frontend that has gone meanwhile until its virtual server goes', async () => {
    const machine = nodeObject('node-a', { addresses: ['192.168.0.10'] });
    const closed = serviceObject('shop/closed', {
      type: 'LoadBalancer',
      ingress: [{ ip: '192.168.0.200' }],
      loadBalancerSourceRanges: ['10.0.0.0/8'],
    });
    const other = serviceObject('shop/other', { clusterIPs: ['172.20.1.2'] });
    const node = new NodeUnderTest({ families: ['IPv4'] });
    await node.apply([
      machine,
      closed,
      sliceObject('shop/closed-1', { service: 'closed', endpoints: [endpointJson('10.180.0.2', 'node-b')] }),
    ]);
    const [rule = ''] = node.rules('filter', 'KUBE-IPVS-OUT-FILTER');
    expect(rule).to.include('--vaddr 192.168.0.200').and.include('-j DROP');
    const [moments, { runTool }] = [[] as boolean[], node.kernel];
    node.kernel.runTool = async (call) => {
      const output = await runTool(call);
      const stands = node.ipvs().some((line) => line.startsWith('-A -t 192.168.0.200:80 '));
      if (stands) moments.push(node.rules('filter', 'KUBE-IPVS-OUT-FILTER').includes(rule));
      return output;
    };
    node.restart();
    await node.apply([machine, other]);
    expect(moments).to.include(true).and.not.include(false);
    expect(node.rules('filter', 'KUBE-IPVS-OUT-FILTER')).to.deep.equal([]);
  });
});

/** Does the work on a machine that dies meanwhile, tools and all; false when the work was done before. */
async function dieIn(kernel: MemoryKernel, { scripts, part }: Death, work: () => Promise<unknown>): Promise<boolean> {
  const { runTool } = kernel;
  const died = Promise.withResolvers<true>();
  let left = scripts;
  let isOver = false;
  kernel.runTool = async (call) => {
    if (isOver) return new Promise<never>(() => {});
    if (call.input === undefined) return runTool(call);
    if (left > 0) {
      left -= 1;
      return runTool(call);
    }
    isOver = true;
    if (!call.tool.endsWith('-restore')) await runTool(partOf(call, part));
    died.resolve(true);
    return new Promise<never>(() => {});
  };
  const isDead = await Promise.race([work().then(() => false), died.promise]);
  // The other family may have had an answer meanwhile; what it asks for next is never answered.
  await new Promise((resolve) => setImmediate(resolve));
  kernel.runTool = runTool;
  return isDead;
}

/** Whole lines only: a tool carries out none that it has not read to its end. */
function partOf(call: ToolCall, part: number): ToolCall {
  const lines = (call.input ?? '').split('\n').filter(Boolean);
  const seen = lines.slice(0, Math.floor(lines.length * part));
  return { ...call, input: seen.map((line) => `${line}\n`).join('') };
}

function expectText(node: NodeUnderTest, objects: readonly ObjectJson[]): void {
  const scratch = memoryKernel(LINKS);
  programFromScratch(scratch, objects, node.settings);
  const [present, wanted] = [kernelText(node.kernel), kernelText(scratch)];
  if (present !== wanted) throw new Error(`not as from scratch:\n${differingLines(present, wanted)}`);
}

async function clean(kernel: MemoryKernel) {
  const messages: string[] = [];
  let stdout = '';
  const exitCode = await cleanNode(
    { flags: {}, of: ['ipvs'], action: 'remove' },
    '1.2.3',
    {
      output: async (text) => {
        stdout += text;
      },
      error: (line) => messages.push(line),
      input: async () => '',
    },
    {
      host: kernel,
      clock: new SteppedClock(),
      lock: async () => succeed({ release: async () => {} }),
    },
  );
  return { stdout, messages, exitCode };
}
