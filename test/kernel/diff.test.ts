import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import type { Host } from '../../src/apply/host.ts';
import type { Desired } from '../../src/desired/desired.ts';
import { diffNode } from '../../src/diff-node.ts';
import { type Comparison, compareNode } from '../../src/explain/compare-node.ts';
import { renderFullScript, renderPlanPart, type ScriptTool } from '../../src/plan/scripts.ts';
import { observedState } from '../builders/kernel-states.ts';
import { caseConfig, caseConfigText, caseDesired, caseNode, caseObjects } from './case-desired.ts';
import { type Case, type CaseBehaviour, loadCases, MEMORY_BEHAVIOURS } from './cases.ts';
import { memoryCaseKernel } from './memory-case-kernel.ts';
import { type MemoryKernel, memoryKernel } from './memory-kernel.ts';
import { runCase } from './run-case.ts';

describe('test/kernel/diff', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-diff-'));

  for (const behaviour of MEMORY_BEHAVIOURS) {
    for (const { path, content } of loadCases()) {
      it(`${path}, ${behaviour}: finds everything on an empty node and nothing afterwards, step by step`, () =>
        compareSteps(content, behaviour));

      it(`${path}, ${behaviour}: finds nothing on a node that passes have programmed, and writes nothing`, async () => {
        const kernel = memoryKernel(content.node.addresses);
        await runCase(content, memoryCaseKernel(kernel), behaviour);
        const config = join(folder, 'config.yaml');
        writeFileSync(config, caseConfigText(content));
        const before = textOf(kernel);
        const [input, messages] = [inputOf(content), [] as string[]];
        let output = '';
        const exitCode = await diffNode(
          { flags: { config, behaviour }, files: ['-'], node: undefined, nodeAddresses: [], form: 'script' },
          '1.2.3',
          {
            output: async (text) => {
              output += text;
            },
            error: (line) => messages.push(line),
            input: async () => input,
          },
          withTools(kernel),
        );
        expect({ output: output.replace(LEFT_ALONE, ''), exitCode }).to.deep.equal({
          output: '# nothing would change\n',
          exitCode: 0,
        });
        expect(messages.filter((line) => line.startsWith('error'))).to.deep.equal([]);
        expect(textOf(kernel)).to.equal(before);
      });
    }
  }
});

/** What drains, and what is inside excludeCIDRs. */
const LEFT_ALONE = /^# left alone\n(= .*: (draining|inside excludeCIDRs).*\n)+\n/;

function compareSteps(content: Case, behaviour: CaseBehaviour): void {
  const { ipvs } = caseConfig(content, behaviour);
  const settings = { behaviour, excludeCIDRs: ipvs.excludeCIDRs, drainsDeleted: false };
  let before = new Map<string, Comparison>();
  for (const [index, families] of caseDesired(content, behaviour).entries()) {
    const step = `step ${index + 1}`;
    const after = new Map<string, Comparison>();
    for (const desired of families) {
      const { family } = desired.kernel;
      const nothing = observedState({ family });
      expectFull(desired, compareNode(desired, nothing, settings), step);
      const compared = compareNode(desired, before.get(family)?.plan.after ?? nothing, settings);
      expect(compared.changes.length > 0, `${step}: differs`).to.equal(compared.plan.parts.length > 0);
      expect(compared.troubles, `${step}: troubles`).to.deep.equal([]);
      const again = compareNode(desired, compared.plan.after, settings);
      expect([again.changes, again.plan.parts], `${step}: again`).to.deep.equal([[], []]);
      after.set(family, compared);
    }
    before = after;
  }
}

/** Everything is added, each thing of a Service names it, and the scripts are those of the dry run. */
function expectFull(desired: Desired, { changes, plan }: Comparison, step: string): void {
  const { kernel } = desired;
  expect(changes.filter(({ action }) => action !== 'add')).to.deep.equal([]);
  const things = changes.filter(({ tool, thing }) => tool === 'ipvs' || /^(entry|address) /.test(thing));
  const reals = [...kernel.ipvs.values()].reduce((sum, { realServers }) => sum + realServers.length, kernel.ipvs.size);
  const entries = [...kernel.sets.values()].reduce((sum, set) => sum + set.entries.size, 0);
  expect(things.length, `${step}: things`).to.equal(reals + entries + kernel.dummy.addresses.size);
  expect(things.filter(({ services }) => services.length === 0)).to.deep.equal([]);
  for (const tool of ['ipvs', 'ipset', 'address'] as const) {
    const delta = plan.parts.map(renderPlanPart).filter((script) => script.tool === tool);
    expect(linesOf(delta.map(({ text }) => text)), `${step}: ${tool}`).to.deep.equal(full([desired], tool));
  }
}

function full(families: readonly Desired[], tool: ScriptTool): readonly string[] {
  return linesOf([...renderFullScript(families, tool)]);
}

function linesOf(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.split('\n'))
    .filter(Boolean)
    .sort();
}

function inputOf(content: Case): string {
  return stringify({
    kind: 'List',
    apiVersion: 'v1',
    items: [...(caseObjects(content).at(-1) ?? []), caseNode(content)],
  });
}

/** Tools tell their versions. Files that a kernel has are there. */
function withTools(kernel: MemoryKernel): Host {
  kernel.files.set('/proc/sys/kernel/osrelease', '6.1.0\n');
  kernel.files.set('/proc/net/if_inet6', '');
  return {
    ...kernel,
    runTool: async (call) => {
      if (!/^--?[Vv]ersion$/.test(call.args[0] ?? '')) return kernel.runTool(call);
      return { ok: true, value: { stdout: `${call.tool} v7.17.1\n`, stderr: '' } };
    },
  };
}

function textOf({ ipvs, ipsets, addresses, tables }: MemoryKernel): string {
  const parts = [ipvs.save(), ipsets.save(), addresses.addresses('kube-ipvs0').join('\n')];
  return [...parts, tables.IPv4.save(), tables.IPv6.save()].join('\n');
}
