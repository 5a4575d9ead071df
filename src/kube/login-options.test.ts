import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { type LoginUser, parseKubeconfig } from './kubeconfig.ts';
import { isAnonymous, LibraryLogin, loginOptions } from './login-options.ts';

const cluster = { name: 'mine', server: 'https://192.0.2.1', skipTLSVerify: false };

function login(user: Omit<LoginUser, 'name'>, more: object = {}) {
  return { cluster: { ...cluster, ...more }, user: { name: 'me', ...user }, extension: undefined };
}

describe('kube/login-options', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'login-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function file(name: string, text: string): string {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  }

  it('are those that the client library has', async () => {
    const [certificate, key, authority] = [file('crt', 'C'), file('key', 'K'), file('ca', 'A')];
    const users = [
      { 'client-certificate': certificate, 'client-key': key, as: 'you' },
      { 'client-certificate-data': 'Qw==', 'client-key-data': 'Sw==' },
      { username: 'me', password: 'secret' },
      { token: 'secret' },
      {},
    ];
    const clusters = [
      { server: 'https://x', 'certificate-authority': authority, 'tls-server-name': 'api' },
      { server: 'https://x', 'certificate-authority-data': 'QQ==' },
      { server: 'https://x', 'insecure-skip-tls-verify': true },
    ];
    for (const user of users) {
      for (const each of clusters) {
        const text = JSON.stringify({
          'current-context': 'a',
          contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
          clusters: [{ name: 'a', cluster: each }],
          users: [{ name: 'a', user }],
        });
        const config = new KubeConfig();
        config.loadFromString(text);
        const expected: Record<string, unknown> = {};
        await config.applyToHTTPSOptions(expected);
        const { agent: _, ...options } = expected;
        const own = parseKubeconfig(text, join(directory, 'config'));
        expect(own && loginOptions(own)).to.deep.equal(options);
      }
    }
  });

  it('have the token that is in a file', () => {
    const options = loginOptions(login({ tokenFile: file('token', 'secret\n') }));
    expect(options.headers).to.deep.equal({ Authorization: 'Bearer secret' });
  });

  const impersonated = {
    impersonateUser: 'you',
    impersonateUid: '7',
    impersonateGroups: ['dev', 'a,b'],
    impersonateExtra: { 'x.io/50%é': ['1', '2'] },
  };
  const impersonation = {
    'Impersonate-User': 'you',
    'Impersonate-Uid': '7',
    'Impersonate-Group': ['dev', 'a,b'],
    'Impersonate-Extra-x.io%2F50%25%C3%A9': ['1', '2'],
  };

  it('have whom the server is to take the user for, each value in a header of its own', async () => {
    expect(loginOptions(login(impersonated)).headers).to.deep.equal(impersonation);
    const provided = { ...impersonated, authProvider: { name: 'gcp', config: { 'access-token': 'secret' } } };
    expect((await new LibraryLogin(login(provided)).options()).headers).to.deep.equal({
      ...impersonation,
      Authorization: 'Bearer secret',
    });
  });

  it('take data before a file', () => {
    const options = loginOptions(login({ certData: 'Qw==', certFile: '/none' }, { caData: 'QQ==', caFile: '/none' }));
    expect([options.cert, options.ca].map(String)).to.deep.equal(['C', 'A']);
  });

  it('cannot be had without a file that is named, nor with one that has no token', () => {
    expect(() => loginOptions(login({ tokenFile: join(directory, 'none') }))).to.throw('ENOENT');
    expect(() => loginOptions(login({ tokenFile: file('token', '\n') }))).to.throw('token is empty');
  });

  it('are left to the client library for an auth provider', async () => {
    const provided = login({ authProvider: { name: 'gcp', config: { 'access-token': 'secret' } } });
    expect(LibraryLogin.isNeeded(provided)).to.equal(true);
    const { headers } = await new LibraryLogin(provided).options();
    expect(headers).to.deep.equal({ Authorization: 'Bearer secret' });
  });

  it('are left to the client library for a proxy, with the token of a file', async () => {
    const proxied = login({ tokenFile: file('token', 'secret') }, { proxyUrl: 'http://127.0.0.1:1' });
    expect(LibraryLogin.isNeeded(proxied)).to.equal(true);
    const { headers, agent } = await new LibraryLogin(proxied).options();
    expect(headers).to.deep.equal({ Authorization: 'Bearer secret' });
    expect(agent?.constructor.name).to.equal('HttpsProxyAgent');
  });

  it('have the certificate of a plugin in what goes through a proxy, and the next one after it', async () => {
    const library = new LibraryLogin(login({ exec: {} }, { proxyUrl: 'http://127.0.0.1:1' }));
    for (const cert of ['one', 'one', 'two']) {
      const { agent } = await library.options({ cert, key: 'K' });
      expect(agent).to.have.nested.property('options.cert').deep.equal(Buffer.from(cert));
      expect(agent).to.have.nested.property('options.key').deep.equal(Buffer.from('K'));
    }
  });

  it('tell nobody who asks where there is nothing in the user, unless the server has no TLS', () => {
    const credentials = { certFile: '/crt', certData: 'Qw==', token: 'x', tokenFile: '/x', username: 'me', exec: {} };
    for (const [name, value] of Object.entries(credentials))
      expect(isAnonymous(login({ [name]: value })), name).to.equal(false);
    expect(isAnonymous(login({ impersonateUser: 'you' }))).to.equal(true);
    expect(isAnonymous(login({}))).to.equal(true);
    expect(isAnonymous(login({}, { server: 'http://192.0.2.1' }))).to.equal(false);
  });

  it('need no library otherwise', () => {
    expect(LibraryLogin.isNeeded(login({ token: 'secret' }))).to.equal(false);
  });
});
