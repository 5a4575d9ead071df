import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { parse, stringify } from 'yaml';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { fillCluster } from '../chaos/cluster-content.ts';

describe('test/cli/stop', function () {
  this.timeout(30_000);
  let folder: string;
  let api: ApiServer;
  const file = (name: string) => join(folder, name);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-stop-'));
    api = await startApiServer({ scheme: 'http' });
    fillCluster(api, 1);
    writeFileSync(file('kubeconfig'), api.kubeconfig());
  });
  afterEach(async () => {
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  /** Starts a program; what it says, on either stream, can be waited for. */
  function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const path = join(import.meta.dirname, program);
    const child = execa(process.execPath, [path, 'run', ...args], { all: true, env, reject: false, timeout: 25_000 });
    let said = '';
    let look = () => {};
    child.all.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      look();
    });
    const until = (what: RegExp) =>
      new Promise<void>((resolve) => {
        look = () => what.test(said) && resolve();
        look();
      });
    const ended = async () => {
      const { exitCode, signal, all } = await child;
      return { exitCode, signal, lines: String(all).split('\n').filter(Boolean) };
    };
    return { child, until, ended };
  }

  const flags = () => [
    ...['--hostname-override', 'node-a', '--kubeconfig', file('kubeconfig')],
    ...['--healthz-bind-address=', '--metrics-bind-address=', '--logging-format=json'],
  ];
  const daemon = (more: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
    start('memory-daemon.ts', [...flags(), ...more], env);

  it('ends with status 0 when all is well', async () => {
    const { child, until, ended } = daemon();
    await until(/node programmed/);
    child.kill('SIGTERM');
    const { exitCode, lines } = await ended();
    expect(exitCode).to.equal(0);
    expect(lines.at(-1)).to.match(/stopping; what is programmed stays/);
  });

  for (const [name, env] of [
    ['in looking at the node', { SLOW_TOOL: 'iptables' }],
    ['in making it ready', { SLOW_TOOL: 'modprobe' }],
  ] as const) {
    it(`ends with status 0 while a tool hangs ${name}`, async () => {
      const { child, until, ended } = daemon([], env);
      await until(/slow/);
      child.kill('SIGTERM');
      const { exitCode, lines } = await ended();
      expect(exitCode).to.equal(0);
      expect(lines.at(-1)).to.match(/stopping; what is programmed stays/);
    });
  }

  it('ends with status 1 while a tool of --init-only hangs, as the node is not ready', async () => {
    const { child, until, ended } = daemon(['--init-only'], { SLOW_TOOL: 'modprobe' });
    await until(/slow/);
    child.kill('SIGINT');
    const { exitCode, lines } = await ended();
    expect(exitCode).to.equal(1);
    expect(lines.at(-1)).to.equal('error: ended by SIGINT before it was done');
  });

  it('ends with status 0 while a tool of a pass hangs, once patience is over', async () => {
    const { child, until, ended } = daemon([], { SLOW_TOOL: 'ipset', SLOW_WHEN: 'writing' });
    await until(/slow/);
    child.kill('SIGTERM');
    expect(await ended()).to.include({ exitCode: 0 });
  });

  it('ends with status 1 at a second signal', async () => {
    const { child, until, ended } = daemon([], { SLOW_TOOL: 'ipset', SLOW_WHEN: 'writing' });
    await until(/slow/);
    child.kill('SIGTERM');
    await until(/stopping/);
    child.kill('SIGTERM');
    expect(await ended()).to.include({ exitCode: 1 });
  });

  it('ends with status 1 while a dry run waits for the API server', async () => {
    const asked = api.requests.next(() => true);
    api.fault({ effect: { kind: 'hang' }, times: Number.POSITIVE_INFINITY });
    const { child, ended } = daemon(['--dry-run']);
    await asked;
    child.kill('SIGTERM');
    const { exitCode, lines } = await ended();
    expect(exitCode).to.equal(1);
    expect(lines).to.deep.equal(['error: ended by SIGTERM before it was done']);
  });

  it('ends, and with it a plugin that hangs', async () => {
    const config = parse(api.kubeconfig());
    execFileSync('mkfifo', [file('pid')]);
    config.users[0].user = { exec: { command: 'sh', args: ['-c', `echo $$ > ${file('pid')}; exec sleep 1000`] } };
    writeFileSync(file('kubeconfig'), stringify(config));
    const { child, ended } = daemon();
    const pid = Number(await readFile(file('pid'), 'utf8'));
    expect(commandOf(pid)).to.match(/^(sh|sleep)/);
    child.kill('SIGTERM');
    expect(await ended()).to.include({ exitCode: 0 });
    while (commandOf(pid) !== '') await new Promise((resolve) => setImmediate(resolve));
  });

  for (const flag of ['--config', '--kubeconfig']) {
    it(`ends with status 0 while nobody writes into the FIFO that ${flag} names`, async () => {
      execFileSync('mkfifo', [file('fifo')]);
      const { child, ended } = daemon([flag, file('fifo')]);
      await untilItOpens(child.pid);
      child.kill('SIGTERM');
      expect(await ended()).to.include({ exitCode: 0, signal: undefined });
    });
  }

  it('ends with status 1 while another command reads a FIFO that nobody writes into', async () => {
    execFileSync('mkfifo', [file('fifo')]);
    const path = join(import.meta.dirname, '../../src/main.ts');
    const child = execa(process.execPath, [path, 'render', '-f', file('fifo')], { reject: false, timeout: 25_000 });
    await untilItOpens(child.pid);
    child.kill('SIGINT');
    expect(await child).to.include({ exitCode: 1 });
  });

  it('ends, and with it its tools, while they hang on a real machine', async () => {
    execFileSync('mkfifo', [file('pid')]);
    for (const tool of ['ip', 'ipset', 'ipvsadm', 'iptables', 'ip6tables', 'conntrack', 'modprobe'])
      writeFileSync(file(tool), `#!/bin/sh\necho $$ > ${file('pid')}\nexec /bin/sleep 1000\n`, { mode: 0o755 });
    const { child, ended } = start('../../src/main.ts', flags(), { PATH: folder });
    const [pid = 0] = (await readFile(file('pid'), 'utf8')).split('\n').map(Number);
    child.kill('SIGTERM');
    expect(await ended()).to.include({ exitCode: 0, signal: undefined });
    while (commandOf(pid) !== '') await new Promise((resolve) => setImmediate(resolve));
  });
});

/** Resolves when a thread of the process waits in the kernel for somebody to open the other end of a FIFO. */
async function untilItOpens(pid = 0): Promise<void> {
  const tasks = `/proc/${pid}/task`;
  const isOpening = (thread: string) => readIfThere(`${tasks}/${thread}/wchan`) === 'wait_for_partner';
  while (!readdirSync(tasks).some(isOpening)) await new Promise((resolve) => setImmediate(resolve));
}

/** `''` for a process that has ended, reaped or not. */
function commandOf(pid: number): string {
  return readIfThere(`/proc/${pid}/cmdline`);
}

/** Of a process or thread, which may end at any time. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
