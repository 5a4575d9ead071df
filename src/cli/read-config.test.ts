import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GivenFlags } from './arguments.ts';
import { readConfig } from './read-config.ts';

describe('cli/read-config', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-'));
    file = join(folder, 'config.yaml');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function reading(flags: GivenFlags) {
    const errors: string[] = [];
    const terminal = { output: async () => {}, error: (line: string) => errors.push(line), input: async () => '' };
    return { config: await readConfig(flags, terminal), errors };
  }

  const head = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\n';

  it('takes the flags where there is no file', async () => {
    for (const flags of [{ 'ipvs-scheduler': 'lc' }, { 'ipvs-scheduler': 'lc', config: '' }]) {
      const { config, errors } = await reading(flags);
      expect([config?.ipvs.scheduler, errors]).to.deep.equal(['lc', []]);
    }
  });

  it('takes the file that a flag names', async () => {
    await writeFile(file, `${head}ipvs:\n  scheduler: wlc\n`);
    const { config, errors } = await reading({ config: file });
    expect([config?.ipvs.scheduler, errors]).to.deep.equal(['wlc', []]);
  });

  it('prints everything that is wrong with a file, a line each', async () => {
    await writeFile(file, `${head}iptables:\n  masqueradeBit: 99\nclusterCIDR: junk\n`);
    const { config, errors } = await reading({ config: file });
    expect(config).to.equal(undefined);
    expect(errors).to.have.lengthOf(2);
    expect(errors.every((line) => line.startsWith('error: ') && !line.includes('\n'))).to.equal(true);
    expect(errors.join()).to.include('masqueradeBit').and.include('clusterCIDR');
  });

  it('says that a file is not there, or cannot be read', async () => {
    expect(await reading({ config: file })).to.deep.equal({
      config: undefined,
      errors: [`error: ${file}: no such file`],
    });
    expect((await reading({ config: folder })).errors).to.deep.equal([`error: ${folder}: it is a folder`]);
  });
});
