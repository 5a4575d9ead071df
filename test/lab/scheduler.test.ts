import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import { probeScheduler } from '../../src/apply/probe-scheduler.ts';
import { HEAD, OWN } from '../../src/config/config-fixture.ts';
import { schedulerFlagNames, schedulerFlags } from '../../src/desired/scheduler-flags.ts';
import type { Family } from '../../src/net/family.ts';
import { Proxier } from '../../src/sync/proxier.ts';
import { service, settings, slice, sliceEndpoint } from '../builders/objects.ts';
import { requireLab } from './in-lab.ts';
import { netnsHost } from './netns-host.ts';

const NAMESPACE = 'scheduler';
const PROGRAM = join(import.meta.dirname, '../../src/main.ts');
const PROBE = '-A -t 198.51.100.0:20000';
const SCHEDULERS = ['rr', 'wrr', 'lc', 'wlc', 'lblc', 'lblcr', 'sh', 'dh', 'sed', 'nq', 'fo', 'ovf', 'mh'];

describe('test/lab/scheduler', () => {
  let host: Host;
  let writes: string[];

  beforeEach('a node with nothing on it', async () => {
    requireLab();
    await execa('ip', ['netns', 'add', NAMESPACE]);
    await execa('ip', ['-n', NAMESPACE, 'link', 'set', 'lo', 'up']);
    writes = [];
    const inside = netnsHost(NAMESPACE);
    host = {
      ...inside,
      runTool: (call) => {
        if (call.input !== undefined) writes.push(call.input);
        return inside.runTool(call);
      },
    };
  });

  afterEach(() => execa('ip', ['netns', 'delete', NAMESPACE]));

  /** As the kernel lists them, real servers too. */
  async function virtualServers(): Promise<readonly string[]> {
    const { stdout } = await execa('nsenter', [`--net=/run/netns/${NAMESPACE}`, 'ipvsadm', '-Sn']);
    return stdout
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  }

  async function restore(script: string): Promise<void> {
    await execa('nsenter', [`--net=/run/netns/${NAMESPACE}`, 'ipvsadm', '-R'], { input: script });
  }

  async function probe(scheduler: string, wanted?: readonly string[]) {
    const flags = schedulerFlags(scheduler, wanted);
    const probed = await probeScheduler(host, { scheduler, schedulerFlags: flags, ifUnknown: 'round-robin' });
    if (!probed.ok) throw new Error(probed.error.join('\n'));
    return probed.value;
  }

  /** A proxier that serves `shop/cart` at one address of each family. */
  function proxierWith(
    scheduler: string,
    wanted: readonly string[] | undefined,
    families: readonly Family[] = ['IPv4'],
  ): Proxier {
    const kernel = new Kernel(host, families, () => 0);
    const given = settings({ scheduler, schedulerFlags: wanted });
    const proxier = new Proxier({ families, nodeName: 'node-a', settings: given, kernel, nowMs: () => 0 });
    proxier.record.service(undefined, service({ addresses: ['10.96.0.10', 'fd00:96::10'] }));
    proxier.record.slice(undefined, slice({ endpoints: [sliceEndpoint('10.180.1.11')] }));
    const ipv6 = slice({ name: 'shop/cart-2', family: 'IPv6', endpoints: [sliceEndpoint('fd00:180:1::11')] });
    proxier.record.slice(undefined, ipv6);
    return proxier;
  }

  const served: readonly (readonly [scheduler: string, wanted: readonly string[] | undefined])[] = [
    ...SCHEDULERS.map((scheduler) => [scheduler, undefined] as const),
    ['mh', []],
    ...['mh', 'sh', 'rr'].map((scheduler) => [scheduler, schedulerFlagNames(scheduler).toReversed()] as const),
  ];
  for (const [scheduler, wanted] of served) {
    const asked = wanted === undefined ? 'as kube-proxy gives them' : wanted.join() || 'none';
    it(`serves with ${scheduler} and flags ${asked}, and has nothing to do after a restart`, async () => {
      const flags = schedulerFlags(scheduler, wanted);
      const first = await proxierWith(scheduler, wanted).pass('full', ['first']);
      expect(first.errors).to.deep.equal([]);
      const options = `-s ${scheduler}${flags.length > 0 ? ` -b ${flags.join()}` : ''}`;
      expect((await virtualServers())[0]).to.equal(`-A -t 10.96.0.10:80 ${options}`);
      writes = [];
      const restarted = proxierWith(scheduler, wanted);
      for (const kind of ['full', 'normal', 'full'] as const) {
        expect((await restarted.pass(kind, ['again'])).errors).to.deep.equal([]);
      }
      expect(writes).to.deep.equal([]);
    });
  }

  for (const scheduler of SCHEDULERS) {
    it(`finds that the kernel has ${scheduler}`, async () => {
      const chosen = { scheduler, schedulerFlags: schedulerFlags(scheduler, undefined) };
      expect(await probe(scheduler, undefined)).to.deep.equal({ chosen, warning: undefined });
      expect(await virtualServers()).to.deep.equal([]);
    });
  }

  for (const scheduler of ['rr', 'sh', 'mh']) {
    it(`finds that flags of ${scheduler} read back as they were set, however they were asked for`, async () => {
      for (const wanted of combinations(schedulerFlagNames(scheduler))) {
        const chosen = { scheduler, schedulerFlags: schedulerFlags(scheduler, wanted) };
        expect(chosen.schedulerFlags).to.not.be.empty;
        expect(await probe(scheduler, wanted)).to.deep.equal({ chosen, warning: undefined });
      }
    });
  }

  /** The program in the node, with a file that names scheduler `nosuch`. */
  async function start(mode: readonly string[], own = '') {
    const folder = await mkdtemp(join(tmpdir(), 'scheduler-'));
    const file = join(folder, 'proxy.yaml');
    await writeFile(file, `${HEAD}ipvs: {scheduler: nosuch}\nconntrack: {maxPerCore: 0}\n${OWN}${own}`);
    const args = [PROGRAM, 'run', ...mode, '--config', file, '--kubeconfig', join(folder, 'none')];
    const inside = `--net=/run/netns/${NAMESPACE}`;
    const ended = await execa('nsenter', [inside, process.execPath, ...args], { reject: false, timeout: 60_000 });
    await rm(folder, { recursive: true });
    const lines = `${ended.stdout}\n${ended.stderr}`.split('\n').filter((line) => line.includes('nosuch'));
    return { exitCode: ended.exitCode, lines };
  }

  for (const mode of [[], ['--init-only']]) {
    it(`R113: ends the program with one error where the kernel lacks the scheduler${mode.map((flag) => `, with ${flag} too`)}`, async () => {
      await restore('-A -t 10.96.0.10:80 -s rr\n-a -t 10.96.0.10:80 -r 10.180.1.11:8080 -m -w 1\n');
      const before = await virtualServers();
      const { exitCode, lines } = await start(mode);
      expect(exitCode).to.equal(1);
      expect(lines).to.have.lengthOf(1);
      expect(lines[0]).to.match(/^error: scheduler nosuch cannot be used: .*; load module ip_vs_nosuch on the host, /);
      expect(await virtualServers()).to.deep.equal(before);
    });
  }

  it('R113: has the program prepare such a node, with one warning, where rr may take its place', async () => {
    const { exitCode, lines } = await start(['--init-only'], 'unknownScheduler: round-robin\n');
    expect(exitCode).to.equal(0);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include('scheduler nosuch cannot be used, so rr is used without flags');
    expect(await virtualServers()).to.deep.equal([]);
  });

  it('R113: falls back to rr when the kernel has no such scheduler and that is asked for, and serves with it', async () => {
    const { chosen, warning } = await probe('nosuch');
    expect(chosen).to.deep.equal({ scheduler: 'rr', schedulerFlags: [] });
    expect(warning).to.include('scheduler nosuch cannot be used');
    expect(warning).to.include('Scheduler or persistence engine not found');
    expect(warning).to.include('load module ip_vs_nosuch');
    expect(await virtualServers()).to.deep.equal([]);
    const report = await proxierWith(chosen.scheduler, chosen.schedulerFlags).pass('full', ['first']);
    expect(report.errors).to.deep.equal([]);
    expect(await virtualServers()).to.include('-A -t 10.96.0.10:80 -s rr');
  });

  it('tries a scheduler on a node that serves IPv6 only', async () => {
    const { chosen } = await probe('wlc');
    const report = await proxierWith(chosen.scheduler, chosen.schedulerFlags, ['IPv6']).pass('full', ['first']);
    expect(report.errors).to.deep.equal([]);
    expect(await virtualServers()).to.deep.equal([
      '-A -t [fd00:96::10]:80 -s wlc',
      '-a -t [fd00:96::10]:80 -r [fd00:180:1::11]:8080 -m -w 1',
    ]);
  });

  it('removes what a killed process left, whatever its scheduler', async () => {
    for (const scheduler of ['rr', 'mh']) {
      await restore(`${PROBE} -s ${scheduler}\n`);
      expect((await probe('rr')).chosen.scheduler).to.equal('rr');
      expect(await virtualServers()).to.deep.equal([]);
    }
  });

  it('changes nothing where a virtual server uses the scheduler already', async () => {
    await restore('-A -u [fd00:96::10]:53 -s lc\n');
    expect((await probe('lc')).chosen.scheduler).to.equal('lc');
    expect(writes).to.deep.equal([]);
  });

  it('edits virtual servers that stand with other flags', async () => {
    await proxierWith('mh', undefined).pass('full', ['first']);
    await proxierWith('mh', []).pass('full', ['first']);
    expect(await virtualServers()).to.include('-A -t 10.96.0.10:80 -s mh');
    await proxierWith('mh', ['mh-fallback']).pass('full', ['first']);
    expect(await virtualServers()).to.include('-A -t 10.96.0.10:80 -s mh -b mh-fallback');
  });
});

/** Each name alone, and all of them, last one first. */
function combinations(names: readonly string[]): readonly (readonly string[])[] {
  return [...names.map((name) => [name]), names.toReversed()];
}
