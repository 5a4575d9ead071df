import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { runProgram } from './program.ts';

describe('test/cli/bad-cluster', () => {
  let folder: string;
  let api: ApiServer;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-bad-cluster-'));
    api = await startApiServer({ token: 'good' });
  });
  after(async () => {
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  async function dryRun(kubeconfig: string) {
    const path = join(folder, 'kubeconfig');
    writeFileSync(path, kubeconfig);
    const flags = ['--hostname-override', 'node-a', '--kubeconfig', path];
    return runProgram(['run', '--dry-run', ...flags]);
  }

  const client = { cert: 'absent.crt', key: 'absent.key' };
  const cases: readonly (readonly [string, () => string, RegExp])[] = [
    ['a kubeconfig that is no YAML', () => 'clusters: [', /^error: .*kubeconfig: /],
    ['a kubeconfig without a context', () => 'kind: Config\n', /^error: .*kubeconfig: it has no current context/],
    [
      'a token that has expired',
      () => api.kubeconfig({ token: 'old' }),
      /^error: \w+ could not be listed: the API server refused with 401 Unauthorized/,
    ],
    [
      'a token file that is not there',
      () => api.kubeconfig({ tokenFile: 'absent.token' }),
      /^error: \w+ could not be listed: .*: the credentials cannot be read: .*absent\.token/,
    ],
    [
      'a client certificate that is not there',
      () => api.kubeconfig({ clientCertificate: client }),
      /^error: \w+ could not be listed: .*: the credentials cannot be read: .*absent\.crt/,
    ],
    [
      'an authority that is not the one of the server',
      () => api.kubeconfig().replace(/certificate-authority-data: .*/, 'tls-server-name: localhost'),
      /^error: \w+ could not be listed: .*certificate/,
    ],
  ];
  for (const [name, kubeconfig, message] of cases) {
    it(`says in one line what is wrong with ${name}, and fails`, async () => {
      const { stdout, messages, exitCode } = await dryRun(kubeconfig());
      expect(messages).to.have.length(1);
      expect(messages[0]).to.match(message);
      expect([stdout, exitCode]).to.deep.equal(['', 1]);
    });
  }

  it('says in one line that a kubeconfig is a folder', async () => {
    const { messages, exitCode } = await runProgram(['run', '--dry-run', '--kubeconfig', folder]);
    expect(messages).to.have.length(1);
    expect(messages[0]).to.match(/^error: .*EISDIR/);
    expect(exitCode).to.equal(1);
  });

  it('says in one line that addresses of the API server differ in their scheme', async () => {
    const config = join(folder, 'config.yaml');
    const own =
      'apiVersion: ipvs-proxier.dev/v1alpha1\nkind: IPVSProxierConfiguration\napiServers: ["http://192.0.2.1"]\n';
    writeFileSync(join(folder, 'kubeconfig'), api.kubeconfig());
    const main = `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\nclientConnection: { kubeconfig: ${join(folder, 'kubeconfig')} }\n`;
    writeFileSync(config, `${main}---\n${own}`);
    const { messages, exitCode } = await runProgram(['run', '--dry-run', '--config', config]);
    expect(messages).to.have.length(1);
    expect(messages[0]).to.match(/http:\/\/192\.0\.2\.1 has another scheme than https:/);
    expect(exitCode).to.equal(1);
  });
});
