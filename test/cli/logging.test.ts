import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';

describe('test/cli/logging', function () {
  this.timeout(30_000);
  let folder: string;
  let api: ApiServer;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-logging-'));
    api = await startApiServer({ scheme: 'http' });
    api.fault({ effect: { kind: 'refuse', status: 500 }, times: Number.POSITIVE_INFINITY });
    writeFileSync(join(folder, 'kubeconfig'), api.kubeconfig());
  });
  afterEach(async () => {
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  function flagsOf(more: readonly string[]): readonly string[] {
    const quiet = ['--healthz-bind-address=', '--metrics-bind-address='];
    return ['run', '--hostname-override=node-a', '--kubeconfig', join(folder, 'kubeconfig'), ...quiet, ...more];
  }
  const PROGRAM = join(import.meta.dirname, 'memory-daemon.ts');

  /** Lines that a daemon logs off a terminal until its API server has failed, and then it is told to end. */
  async function logOf(...flags: readonly string[]): Promise<readonly string[]> {
    const child = execa(process.execPath, [PROGRAM, ...flagsOf(flags)], { reject: false, timeout: 25_000 });
    let said = '';
    let isTold = false;
    child.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      if (said.includes('cannot be asked') && !isTold) isTold = child.kill('SIGTERM');
    });
    const { stderr, exitCode } = await child;
    expect(exitCode).to.equal(0);
    return stderr.split('\n');
  }

  it('is one JSON object a line, off a terminal', async () => {
    const lines = (await logOf()).map((line) => JSON.parse(line));
    for (const line of lines) expect(line).to.include.all.keys('level', 'time', 'msg');
    const failed = lines.find(({ msg }) => msg.includes('cannot be asked'));
    expect(failed).to.include({ level: 'warn', part: 'kube' });
    expect(failed.err).to.be.a('string').and.match(/500/);
  });

  it('is text where that is asked for, an error on the line of its message', async () => {
    const lines = await logOf('--logging-format', 'text');
    for (const line of lines) expect(line).to.match(/^\[[\d:.]+\] (INFO|WARN): /);
    const [failed] = lines.filter((line) => line.includes('cannot be asked'));
    expect(failed).to.match(
      /WARN: \[kube\] the API server cannot be asked; what is programmed stays: .*500.* \{"resource":/,
    );
  });

  for (const format of ['json', 'text']) {
    it(`costs lines and not the daemon where no ${format} can be written`, async () => {
      const command = [process.execPath, PROGRAM, ...flagsOf(['--logging-format', format])];
      const asked = api.requests.next(() => true);
      const child = execa('sh', ['-c', 'exec "$@" 2>/dev/full', 'sh', ...command], { reject: false, timeout: 25_000 });
      await asked;
      child.kill('SIGTERM');
      const { exitCode, signal } = await child;
      expect({ exitCode, signal }).to.deep.equal({ exitCode: 0, signal: undefined });
    });
  }
});
