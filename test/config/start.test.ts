import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { lockNode } from '../../src/apply/node-lock.ts';
import type { GivenFlags } from '../../src/cli/arguments.ts';
import { HEAD, OWN } from '../../src/config/config-fixture.ts';
import { runDaemon } from '../../src/daemon.ts';
import { type StartingHost, startingHost } from './starting-host.ts';

describe('test/config/start', () => {
  let messages: string[];
  /** Warnings of the log. */
  let warnings: string[];

  beforeEach(() => {
    messages = [];
    warnings = [];
  });

  /** What a privileged init container does: everything before the first pass, and then the end. */
  function start(host: StartingHost, flags: GivenFlags = {}) {
    const terminal = { output: async () => {}, error: (line: string) => messages.push(line), input: async () => '' };
    const openLog = () => pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line).msg) });
    const args = { flags, mode: 'init-only', form: 'script' } as const;
    return runDaemon(args, '1.2.3', terminal, new Promise(() => {}), { host, openLog, lock: lockNode });
  }

  it('R110: starts on a kernel that has IPVS built in, though no module is listed, and loads none but for the scheduler', async () => {
    const host = startingHost('built in');
    expect(await start(host)).to.equal(0);
    expect(messages).to.deep.equal([]);
    expect(host.commands().filter((line) => line.startsWith('modprobe'))).to.deep.equal(['modprobe -va ip_vs_rr']);
  });

  it('loads the module on a kernel that has IPVS as one', async () => {
    const host = startingHost('a module');
    expect(await start(host)).to.equal(0);
    expect(host.commands()).to.include('modprobe -va ip_vs');
  });

  it('R112: starts without a module loader where the kernel answers', async () => {
    const host = startingHost('built in');
    host.missing.add('modprobe');
    expect(await start(host)).to.equal(0);
    expect(messages).to.deep.equal([]);
  });

  it('R112: ends with one message that names the modules to load on the host, where the kernel does not answer', async () => {
    const host = startingHost('a module');
    host.missing.add('modprobe');
    expect(await start(host)).to.equal(1);
    expect(messages).to.have.lengthOf(1);
    expect(messages[0]).to.match(
      /^error: the kernel has no IPVS: load the modules ip_vs, ip_vs_rr .* nf_conntrack on the host; modprobe is not installed/,
    );
  });

  it('R113: ends with one error and status 1 where the kernel lacks the scheduler, and leaves the table as it was', async () => {
    const host = startingHost();
    host.ipvs.schedulers.delete('lc');
    const table = '-A -t 172.20.1.1:80 -s rr\n-a -t 172.20.1.1:80 -r 10.180.1.11:8080 -m -w 1\n';
    host.ipvs.restore(table);
    expect(await start(host, { 'ipvs-scheduler': 'lc' })).to.equal(1);
    expect(messages).to.have.lengthOf(1);
    expect(messages[0]).to.match(
      /^error: scheduler lc cannot be used: .*; load module ip_vs_lc on the host, or set ipvs.scheduler to one that its kernel has/,
    );
    expect(host.ipvs.save()).to.equal(table);
  });

  it('R113: serves with rr and a warning, known before any Service is programmed, where that is asked for', async () => {
    const host = startingHost();
    host.ipvs.schedulers.delete('lc');
    const folder = await mkdtemp(join(tmpdir(), 'start-'));
    const file = join(folder, 'proxy.yaml');
    await writeFile(file, `${HEAD}mode: ipvs\nipvs: {scheduler: lc}\n${OWN}unknownScheduler: round-robin\n`);
    expect(await start(host, { config: file })).to.equal(0);
    await rm(folder, { recursive: true });
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(
      /^scheduler lc cannot be used, so rr is used without flags: .*; load module ip_vs_lc on the host/,
    );
    const tried = host.calls.filter(({ tool, input }) => tool === 'ipvsadm' && input !== undefined);
    expect(tried.map(({ input }) => input?.trim())).to.deep.equal([
      '-A -t 198.51.100.0:20000 -s lc',
      '-A -t 198.51.100.0:20000 -s rr',
      '-D -t 198.51.100.0:20000',
    ]);
    expect(host.ipvs.save()).to.equal('');
  });

  it('R113: ends with an error where there is no scheduler at all, and leaves the table as it was', async () => {
    const host = startingHost();
    host.ipvs.schedulers.clear();
    expect(await start(host)).to.equal(1);
    expect(messages.join()).to.match(/^error: scheduler rr cannot be used: .*; load module ip_vs_rr on the host/);
    expect(host.ipvs.save()).to.equal('');
  });

  for (const mode of ['ipvs', 'iptables', ''] as const) {
    it(`R115: ends with an error and status 1 where the kernel has no IPVS for good, in mode "${mode}" too`, async () => {
      const host = startingHost('absent');
      expect(await start(host, { 'proxy-mode': mode })).to.equal(1);
      expect(messages.join()).to.include('error: the kernel has no IPVS');
      const anyway = {
        ipvs: [],
        iptables: ['mode is "iptables"; this program runs ipvs anyway'],
        '': ['mode is empty; this program runs ipvs anyway'],
      }[mode];
      expect(warnings.map((line) => line.split('; what')[0])).to.deep.equal(anyway);
      expect(host.calls.filter(({ input }) => input !== undefined)).to.deep.equal([]);
    });
  }

  it('writes the limits of connection tracking for the CPUs that there are, and the OOM score', async () => {
    const host = startingHost();
    expect(await start(host, { 'conntrack-max-per-core': '50000', 'oom-score-adj': '-500' })).to.equal(0);
    expect(host.files.get('/proc/sys/net/netfilter/nf_conntrack_max')).to.equal('200000');
    expect(host.files.get('/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_established')).to.equal('86400');
    expect(host.files.get('/proc/self/oom_score_adj')).to.equal('-500');
  });

  it('ends where /proc/sys is read-only and something has to be written, naming all of it', async () => {
    const host = startingHost();
    host.writeText = async (path) => ({ ok: false, error: { kind: 'file-failed', path, code: 'EROFS' } });
    expect(await start(host)).to.equal(1);
    const files = messages.map((line) => line.split(' ')[1]);
    expect(files).to.include('/proc/sys/net/ipv4/vs/conntrack').and.include('/proc/sys/net/netfilter/nf_conntrack_max');
  });

  it('ends with status 2 where the configuration is wrong, before it touches the node', async () => {
    const host = startingHost();
    expect(await start(host, { 'ipvs-sync-period': '0s' })).to.equal(2);
    expect(host.calls).to.deep.equal([]);
  });
});
