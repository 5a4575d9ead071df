import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { type ApiServer, startApiServer } from '../../test/apiserver/server.ts';
import { SteppedClock, settle } from '../../test/stepped-clock.ts';
import { openTransport } from './client.ts';
import { type ApiError, describeApiError } from './client-errors.ts';
import { type ApiRequest, type ApiTransport, callJson } from './client-transport.ts';

describe('kube/client-credentials', () => {
  let api: ApiServer;
  let clock: SteppedClock;
  let directory: string;
  let transport: ApiTransport | undefined;
  const services: ApiRequest = { method: 'GET', path: '/api/v1/services' };

  beforeEach(async () => {
    clock = new SteppedClock();
    directory = mkdtempSync(join(tmpdir(), 'credentials-'));
    api = await startApiServer({ token: 'secret', scheme: 'http' });
  });
  afterEach(async () => {
    transport?.close();
    await api.stop();
    rmSync(directory, { recursive: true });
  });

  /** Connects with these fields of the user, and of the cluster besides its address. */
  function connect(user: object, cluster: object = {}): ApiTransport {
    const kubeconfig = join(directory, 'kubeconfig');
    const config = parse(api.kubeconfig());
    config.users[0].user = user;
    Object.assign(config.clusters[0].cluster, cluster);
    writeFileSync(kubeconfig, stringify(config));
    const opened = openTransport({ kubeconfig, master: '', userAgent: 'test', clock });
    if (!opened.ok) throw new Error(opened.error.message);
    transport = opened.value;
    return opened.value;
  }

  const plugin = (script: string, more: object = {}) => ({ exec: { command: 'sh', args: ['-c', script], ...more } });
  const credential = (token: string) => `echo '${JSON.stringify({ kind: 'ExecCredential', status: { token } })}'`;

  async function ask(through: ApiTransport, request: ApiRequest = services): Promise<string> {
    const answer = await callJson(through, request);
    return answer.ok ? 'ok' : told(answer.error);
  }
  const told = (error: ApiError) => `${error.kind}: ${describeApiError(error)}`;

  it('are what a plugin hands out, once for all requests', async () => {
    const count = `echo run >> ${join(directory, 'runs')}; [ $(wc -l < ${join(directory, 'runs')}) = 1 ] || exit 1`;
    const through = connect(plugin(`${count}; ${credential('secret')}`));
    expect(await Promise.all([ask(through), ask(through), ask(through)])).to.deep.equal(['ok', 'ok', 'ok']);
    await clock.advance(60_000);
    expect(await ask(through)).to.equal('ok');
  });

  it('name whom the server is to take the user for, every group in a line of its own', async () => {
    let lines: readonly string[] = [];
    const server = createServer((request, answer) => {
      lines = request.rawHeaders.map((_, at, all) => `${all[at]}: ${all[at + 1]}`).filter((_, at) => at % 2 === 0);
      answer.end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const user = { token: 'secret', as: 'you', 'as-groups': ['dev', 'a,b'], 'as-user-extra': { scopes: ['1', '2'] } };
    expect(await ask(connect(user, { server: `http://127.0.0.1:${port}` }))).to.equal('ok');
    expect(lines.filter((line) => line.startsWith('Impersonate-'))).to.deep.equal([
      'Impersonate-User: you',
      'Impersonate-Group: dev',
      'Impersonate-Group: a,b',
      'Impersonate-Extra-scopes: 1',
      'Impersonate-Extra-scopes: 2',
    ]);
    server.closeAllConnections();
    server.close();
  });

  it('are asked of a plugin again after a 401', async () => {
    writeFileSync(join(directory, 'token'), 'old');
    const through = connect(
      plugin(`printf '{"kind":"ExecCredential","status":{"token":"%s"}}' $(cat ${join(directory, 'token')})`),
    );
    expect(await ask(through)).to.match(/^refused: .* 401/);
    writeFileSync(join(directory, 'token'), 'secret');
    expect(await ask(through)).to.equal('ok');
  });

  it('are not there when a plugin fails, which is no reason to end', async () => {
    const through = connect(plugin('echo no login >&2; exit 1'));
    const message = 'the credentials cannot be read: plugin sh ended with status 1: no login';
    expect(await ask(through)).to.equal(`unreachable: ${api.url}/api/v1/services: ${message}`);
  });

  it('tell a plugin of the cluster, with its extension', async () => {
    const [info, authority] = [join(directory, 'info'), join(directory, 'ca')];
    writeFileSync(authority, 'certificate');
    const extension = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } };
    const through = connect(
      plugin(`echo "$KUBERNETES_EXEC_INFO" > ${info}; ${credential('secret')}`, { provideClusterInfo: true }),
      { 'tls-server-name': 'api', 'certificate-authority': 'ca', extensions: [extension] },
    );
    expect(await ask(through)).to.equal('ok');
    const { spec } = JSON.parse(readFileSync(info, 'utf8'));
    expect(spec.cluster).to.deep.equal({
      server: api.url,
      'tls-server-name': 'api',
      'insecure-skip-tls-verify': true,
      'certificate-authority-data': Buffer.from('certificate').toString('base64'),
      config: { audience: 'x' },
    });
  });

  it('are given up when a plugin does not end in 25 s', async () => {
    const through = connect(plugin('exec sleep 1000'));
    const asked = ask(through);
    await settle();
    await clock.advance(25_000);
    expect(await asked).to.match(
      /: the credentials cannot be read: plugin sh did not end within 25 s and was stopped$/,
    );
    expect(clock.pending()).to.deep.equal([]);
  });

  it('do not hold up a request that is given up, nor the end', async () => {
    const through = connect(plugin('exec sleep 1000'));
    const controller = new AbortController();
    const [first, second] = [ask(through, { ...services, signal: controller.signal }), ask(through)];
    controller.abort();
    expect(await first).to.match(/^aborted/);
    through.close();
    expect(await second).to.match(/plugin sh was stopped$/);
    expect(clock.pending()).to.deep.equal([]);
  });

  for (const token of ['sec\nret', 'sec\u0000ret', 'sec\u00a0\u2028ret']) {
    it(`cannot have the token ${JSON.stringify(token)}, which is no reason to end`, async () => {
      const through = connect({ token });
      const message = 'the credentials cannot be read: Invalid character in header content ["Authorization"]';
      expect(await ask(through)).to.equal(`unreachable: ${api.url}/api/v1/services: ${message}`);
      expect(await ask(through)).to.match(/^unreachable/);
    });
  }

  it('may come with line ends around a token', async () => {
    expect(await ask(connect({ token: 'secret\n' }))).to.equal('ok');
  });

  for (const token of ['sec\nret', '']) {
    it(`stay as they were while a new token is ${JSON.stringify(token)}`, async () => {
      const file = join(directory, 'token');
      writeFileSync(file, 'secret');
      const through = connect({ tokenFile: 'token' });
      expect(await ask(through)).to.equal('ok');
      writeFileSync(file, token);
      await clock.advance(60_000);
      expect(await ask(through)).to.equal('ok');
    });
  }
});
