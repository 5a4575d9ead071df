import { expect } from 'chai';
import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import { proxySettings } from '../../src/config/proxy-settings.ts';
import type { HealthCheck } from '../../src/desired/health-checks.ts';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { type PassReport, Proxier } from '../../src/sync/proxier.ts';
import { caseConfig, caseNode } from './case-desired.ts';
import type { Case, CaseBehaviour, CaseStep, Expectation } from './cases.ts';
import { recordServices } from './record-cluster.ts';

/** What a kernel holds, in the words of the vectors. */
export interface Dump {
  /** Lines of `ipvsadm -Sn`. */
  readonly ipvs: readonly string[];
  /** Addresses on kube-ipvs0. */
  readonly dummy: readonly string[];
  readonly sets: ReadonlyMap<string, readonly string[]>;
  /** Texts of iptables-save and ip6tables-save. */
  readonly tables: readonly string[];
}

/** One kernel under test. */
export interface CaseKernel {
  /** After which steps it is shown that a pass without a change writes nothing: starting tools takes its time in a real kernel. */
  readonly repeatAfter: 'every step' | 'the last step';
  readonly host: Host;
  dump(): Promise<Dump>;
  /** Tools started since the last call that write. */
  takeWrites(): readonly string[];
}

/**
 * Plays a vector against a kernel, comparing after each step; then a pass without a change, normal and full, which must write nothing.
 * Throws an assertion at the first difference.
 */
export async function runCase(content: Case, kernel: CaseKernel, behaviour: CaseBehaviour): Promise<void> {
  const clock = { ms: 0 };
  const proxier = caseProxier(content, kernel.host, behaviour, () => clock.ms);
  const cluster = new Map<string, unknown>();
  let before = decodeObjects([]);
  let graceful: readonly string[] = [];
  for (const [index, step] of content.steps.entries()) {
    const label = `step ${index + 1}`;
    changeCluster(cluster, step);
    const after = decodeObjects([...cluster.values()]);
    recordServices(proxier.record, before, after);
    before = after;
    const report = await proxier.pass('normal', [label]);
    expect(report.errors, `${label}: errors`).to.deep.equal([]);
    await endDrains(proxier, report, clock);
    const wanted = (behaviour === 'documented' && step.documented) || step.expect;
    graceful = [...graceful, ...(wanted.gracefullyRemoved ?? [])];
    compare(wanted, await kernel.dump(), healthChecksOf(report), graceful, label);
    kernel.takeWrites();
    if (kernel.repeatAfter === 'the last step' && step !== content.steps.at(-1)) continue;
    for (const kind of ['normal', 'full'] as const) {
      const again = await proxier.pass(kind, ['nothing']);
      expect(again.errors, `${label}, ${kind} pass again: errors`).to.deep.equal([]);
      expect(kernel.takeWrites(), `${label}, ${kind} pass again: tools that write`).to.deep.equal([]);
    }
  }
}

/** What drains without connections goes when it is looked at. */
export async function endDrains(proxier: Proxier, report: PassReport, clock: { ms: number }): Promise<void> {
  const waits = report.families.flatMap(({ lookAfterMs }) => lookAfterMs ?? []);
  if (waits.length === 0) return;
  clock.ms += Math.max(...waits);
  const { errors } = await proxier.pass('normal', ['drains']);
  expect(errors, 'errors of the pass that ends drains').to.deep.equal([]);
}

function caseProxier(content: Case, host: Host, behaviour: CaseBehaviour, nowMs: () => number): Proxier {
  const config = caseConfig(content, behaviour);
  const [node] = decodeObjects([caseNode(content)]).nodes;
  const proxier = new Proxier({
    families: FAMILIES,
    nodeName: content.node.name,
    settings: proxySettings(config, true),
    kernel: new Kernel(host, FAMILIES, nowMs),
    nowMs,
  });
  if (node) proxier.record.node(node);
  return proxier;
}

function changeCluster(cluster: Map<string, unknown>, step: CaseStep): void {
  const key = (kind: unknown, namespace: unknown, name: unknown) => `${kind} ${namespace}/${name}`;
  for (const object of (step.apply ?? []) as { kind: string; metadata: { namespace: string; name: string } }[]) {
    cluster.set(key(object.kind, object.metadata.namespace, object.metadata.name), object);
  }
  for (const { kind, namespace, name } of step.delete ?? []) cluster.delete(key(kind, namespace, name));
}

export function healthChecksOf(report: PassReport): readonly HealthCheck[] {
  return report.families.flatMap(({ state }) => state.desired.healthChecks);
}

function compare(
  wanted: Expectation,
  dump: Dump,
  healthChecks: readonly HealthCheck[],
  graceful: readonly string[],
  label: string,
): void {
  const wantedLines = wanted.ipvs.split('\n').filter(Boolean);
  const optional = new Set(graceful.map((server) => `-a ${server} -m -w 0`));
  const lines = dump.ipvs.filter((line) => wantedLines.includes(line) || !optional.has(line));
  expect([...lines].sort().join('\n'), `${label}: ipvs`).to.equal([...wantedLines].sort().join('\n'));
  expect([...dump.dummy].sort(), `${label}: dummy`).to.deep.equal([...wanted.dummy].sort());
  for (const [name, entries] of Object.entries(wanted.ipset ?? {})) {
    expect([...(dump.sets.get(name) ?? ['no such set'])].sort(), `${label}: ${name}`).to.deep.equal(
      [...entries].sort(),
    );
  }
  for (const { table, chain, has } of wanted.iptables ?? []) {
    const rules = dump.tables.flatMap((text) => rulesOf(text, table)).filter((rule) => rule.startsWith(`-A ${chain} `));
    expect(
      rules.some((rule) => rule.includes(has)),
      `${label}: ${table} ${chain} has "${has}":\n${rules.join('\n')}`,
    ).to.equal(true);
  }
  if (wanted.healthChecks) {
    expect(healthChecks, `${label}: health checks`).to.have.deep.members([...wanted.healthChecks]);
  }
}

function rulesOf(text: string, table: string): readonly string[] {
  const start = text.indexOf(`*${table}\n`);
  return start < 0 ? [] : text.slice(start, text.indexOf('\nCOMMIT', start)).split('\n');
}
