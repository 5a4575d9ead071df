import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ReplayReport } from '../../src/replay/report.ts';
import { runProgram } from './program.ts';

const SPEC = 'slices=20,changesPerSecond=50,seconds=5';

describe('test/cli/replay', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-replay-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);
  const replay = (...args: readonly string[]) => runProgram(['replay', ...args]);
  const report = (stdout: string) => JSON.parse(stdout) as ReplayReport;

  it('prints a table with a column for each controller', async () => {
    const { stdout, messages, exitCode } = await replay('--generate', SPEC);
    expect([messages, exitCode]).to.deep.equal([[], 0]);
    expect(stdout).to.match(/^290 events, [\d.]+ s\n\n +naive +kube-proxy +ipvs-proxier\npasses +290 +\d+ +\d+\n/);
    expect(stdout).to.match(/\nAPI requests by passes +290 +0 +0\n/);
  });

  it('writes the same trace for the same seed, byte for byte, and replays it as it would have run it', async () => {
    for (const name of ['a.jsonl', 'b.jsonl', 'c.jsonl.gz'])
      expect(await replay('--generate', SPEC, '--write', file(name))).to.deep.equal({
        stdout: '',
        messages: [`note: 290 events written to ${file(name)}`],
        exitCode: 0,
      });
    const trace = readFileSync(file('a.jsonl'), 'utf8');
    expect(readFileSync(file('b.jsonl'), 'utf8')).to.equal(trace);
    expect(gunzipSync(readFileSync(file('c.jsonl.gz'))).toString('utf8')).to.equal(trace);
    const run = await replay('--generate', SPEC, '-o', 'json');
    expect(await replay(file('a.jsonl'), '-o', 'json')).to.deep.equal(run);
    expect(await replay(file('c.jsonl.gz'), '-o', 'json')).to.deep.equal(run);
    expect(await runProgram(['replay', '-', '-ojson'], { input: trace })).to.deep.equal(run);
  });

  it('gives a record that others can read', async () => {
    const { controllers } = report((await replay('--generate', SPEC, '-o', 'json')).stdout);
    expect(controllers.map(({ name }) => name)).to.deep.equal(['naive', 'kube-proxy', 'ipvs-proxier']);
    for (const controller of controllers) {
      expect(controller).to.have.all.keys(
        ...['name', 'passes', 'passesPerMinute', 'servicesProcessed', 'latencyMs', 'eventsDropped', 'apiRequests'],
      );
      expect(controller.latencyMs).to.have.all.keys('all', 'critical', 'high', 'normal', 'low');
      expect(controller.latencyMs.all).to.have.all.keys('events', 'p50', 'p90', 'p99', 'max');
    }
  });

  it('says that nothing is in an empty trace', async () => {
    writeFileSync(file('empty'), '');
    const { messages, exitCode } = await replay(file('empty'));
    expect([messages, exitCode]).to.deep.equal([['warning: no event was read'], 0]);
  });

  it('names fifty bad lines of a file that is no trace, and counts the rest', async () => {
    writeFileSync(file('no-trace'), 'x\n'.repeat(60));
    const { stdout, messages, exitCode } = await replay(file('no-trace'));
    expect([messages.length, messages.at(-1)]).to.deep.equal([51, 'note: 10 more errors are not shown']);
    expect([stdout, exitCode]).to.deep.equal(['', 1]);
  });

  it('names each bad line once, replays the rest and fails', async () => {
    writeFileSync(file('good.jsonl'), '');
    await replay('--generate', SPEC, '--write', file('good.jsonl'));
    const good = readFileSync(file('good.jsonl'), 'utf8').trimEnd().split('\n');
    const lines = [good[0], 'nonsense', ...good.slice(1, 5), '{"atMs":0}', ...good.slice(5)];
    writeFileSync(file('bad.jsonl'), lines.join('\n'));
    const { stdout, messages, exitCode } = await replay(file('bad.jsonl'), '-o', 'json');
    expect(messages).to.have.lengthOf(2);
    expect(messages[0]).to.match(/^error: .*bad\.jsonl:2: it is not JSON: /);
    expect(messages[1]).to.match(/^error: .*bad\.jsonl:7: type is undefined, none of ADDED, MODIFIED, DELETED$/);
    expect(stdout).to.equal((await replay(file('good.jsonl'), '-o', 'json')).stdout);
    expect(exitCode).to.equal(1);
  });

  it('replays the rest of a trace with an absurd time, and of one without any event prints nothing', async () => {
    const event = (atMs: number) =>
      JSON.stringify({
        ...{ atMs, type: 'ADDED' },
        object: {
          ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'cart', resourceVersion: `${atMs}` } },
          spec: { clusterIP: '172.20.1.1', clusterIPs: ['172.20.1.1'], ports: [{ protocol: 'TCP', port: 80 }] },
        },
      });
    writeFileSync(file('absurd.jsonl'), [event(0), event(1e15), event(1_000)].join('\n'));
    const absurd = await replay(file('absurd.jsonl'));
    expect(absurd.stdout).to.match(/^2 events, /);
    expect([absurd.messages, absurd.exitCode]).to.deep.equal([
      [`error: ${file('absurd.jsonl')}:2: atMs is 1000000000000000, more than 366 days after the 0 of the first event`],
      1,
    ]);
    writeFileSync(file('nothing.jsonl'), 'nonsense\n');
    const nothing = await replay(file('nothing.jsonl'), '-o', 'json');
    expect([nothing.stdout, nothing.messages.length, nothing.exitCode]).to.deep.equal(['', 1, 1]);
  });

  const missing = '/nowhere/trace.jsonl';
  const misused: readonly (readonly [readonly string[], string, number])[] = [
    [[missing], `error: ${missing}: no such file`, 1],
    [['--generate', SPEC, '--write', missing], `error: ${missing}: cannot be written: ENOENT`, 1],
    [['--generate', 'slice=5'], 'error: --generate: "slice" is not known, did you mean slices?', 2],
    [
      ['--generate', SPEC, '--pass-ms', 'x'],
      'error: --pass-ms: x is not a number of milliseconds from 0 to 3600000',
      2,
    ],
    [
      ['--generate', SPEC, '--service-ms', '3600001'],
      'error: --service-ms: 3600001 is not a number of milliseconds from 0 to 3600000',
      2,
    ],
    [['--generate', SPEC, '--min-sync-period', '5'], 'error: --min-sync-period: 5 is not a duration from 0 on', 2],
    [['--generate', SPEC, '--sync-period', '0'], 'error: --sync-period: 0 is not a duration of 1ms or more', 2],
    [['--generate', SPEC, '--sync-period', '1ns'], 'error: --sync-period: 1ns is not a duration of 1ms or more', 2],
    [
      ['--generate', SPEC, '--sync-period', '500ms'],
      'error: --min-sync-period must not be longer than --sync-period',
      2,
    ],
  ];
  for (const [args, message, status] of misused) {
    it(`ends with status ${status} and says why: ${message}`, async () => {
      expect(await replay(...args)).to.deep.equal({ stdout: '', messages: [message], exitCode: status });
    });
  }

  it('takes periods and the queue from a configuration file, and options before it', async () => {
    writeFileSync(
      file('config.yaml'),
      [
        'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
        'kind: KubeProxyConfiguration',
        'mode: ipvs',
        'ipvs: {minSyncPeriod: 5s, syncPeriod: 30s}',
        '',
      ].join('\n'),
    );
    const passes = async (...args: readonly string[]) => {
      const { stdout } = await replay('--generate', SPEC, '-o', 'json', '--config', file('config.yaml'), ...args);
      return report(stdout).controllers.find(({ name }) => name === 'ipvs-proxier')?.passes;
    };
    expect(await passes()).to.equal(3);
    expect(await passes('--min-sync-period', '1s')).to.equal(7);
  });
});
