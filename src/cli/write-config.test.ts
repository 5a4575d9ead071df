import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GivenFlags } from './arguments.ts';
import { readConfig } from './read-config.ts';
import { writeConfig } from './write-config.ts';

describe('cli/write-config', () => {
  let folder: string;
  let file: string;
  let messages: string[];
  const terminal = { output: async () => {}, error: (line: string) => messages.push(line), input: async () => '' };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'write-config-'));
    file = join(folder, 'effective.yaml');
    messages = [];
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('writes both documents with their defaults, and one line of what it has done', async () => {
    expect(
      await writeConfig({ 'proxy-mode': 'ipvs', 'ipvs-scheduler': 'wlc', behaviour: 'kube-proxy' }, file, terminal),
    ).to.equal(0);
    expect(messages).to.deep.equal([`note: the configuration was written to ${file}`]);
    const text = await readFile(file, 'utf8');
    for (const line of [
      'kind: KubeProxyConfiguration',
      'mode: ipvs',
      'detectLocalMode: ClusterCIDR',
      '  scheduler: wlc',
      '  minSyncPeriod: 1s',
      'healthzBindAddress: 0.0.0.0:10256',
      'apiVersion: ipvs-proxier.dev/v1alpha1',
      'behaviour: kube-proxy',
      '    critical: 0s',
    ]) {
      expect(text.split('\n'), line).to.include(line);
    }
  });

  it('writes what a file gives, and reading that changes nothing', async () => {
    const flags: GivenFlags = {
      'cluster-cidr': '10.0.0.0/8,fd00::/8',
      'nodeport-addresses': 'localhost,primary',
      'hostname-override': 'A',
    };
    await writeConfig(flags, file, terminal);
    const first = await readFile(file, 'utf8');
    expect(await writeConfig({ config: file }, file, terminal)).to.equal(0);
    expect(await readFile(file, 'utf8')).to.equal(first);
    const [before, after] = [await readConfig(flags, terminal), await readConfig({ config: file }, terminal)];
    expect(after).to.deep.equal({ ...before, notices: [] });
  });

  it('warns of what flags can say and a file cannot', async () => {
    const flags = {
      'proxy-mode': 'ipvs',
      'healthz-port': '0',
      'metrics-bind-address': '',
      'kube-api-qps': '0',
      master: 'https://a',
    };
    expect(await writeConfig(flags, file, terminal)).to.equal(0);
    expect(messages).to.deep.equal([
      'note: flag --healthz-port is deprecated: Use --healthz-bind-address.',
      'warning: clientConnection.qps: a file cannot set this to 0 or empty; read back it has its default',
      'warning: healthzBindAddress: a file cannot set this to 0 or empty; read back it has its default',
      'warning: metricsBindAddress: a file cannot set this to 0 or empty; read back it has its default',
      'warning: --master: a file has no field for this',
      `note: the configuration was written to ${file}`,
    ]);
  });

  it('notes what has no effect', async () => {
    expect(await writeConfig({ 'proxy-mode': 'nftables' }, file, terminal)).to.equal(0);
    await writeConfig({ config: file, 'ipvs-scheduler': 'lc' }, file, terminal);
    expect(messages[0]).to.match(/^note: mode is "nftables"; this program runs ipvs anyway/);
    expect(messages).to.include('note: --ipvs-scheduler do not count beside a file');
  });

  it('writes nothing of a configuration that is wrong', async () => {
    expect(await writeConfig({ 'ipvs-sync-period': '0s' }, file, terminal)).to.equal(2);
    expect(messages).to.have.lengthOf(1);
    expect(await readFile(file, 'utf8').catch((error) => error.code)).to.equal('ENOENT');
  });

  it('fails where the file cannot be written', async () => {
    expect(await writeConfig({}, folder, terminal)).to.equal(1);
    expect(messages).to.deep.equal([`error: ${folder}: cannot be written: EISDIR`]);
  });
});
