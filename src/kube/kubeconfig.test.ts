import { expect } from 'chai';
import { parseKubeconfig, serviceAccount } from './kubeconfig.ts';

/** A kubeconfig whose current context names these. */
function kubeconfig(cluster: unknown, user?: unknown): string {
  return JSON.stringify({
    'current-context': 'here',
    contexts: [
      { name: 'there', context: { cluster: 'other', user: 'other' } },
      { name: 'here', context: { cluster: 'mine', user: 'me' } },
    ],
    clusters: [
      { name: 'other', cluster: { server: 'https://other' } },
      { name: 'mine', cluster },
    ],
    users: [{ name: 'me', user }, { name: 'other' }],
  });
}

const SERVER = { server: 'https://192.0.2.1:6443' };

describe('kube/kubeconfig', () => {
  it('reads the cluster and the user of the current context, files from its own folder', () => {
    const cluster = {
      ...SERVER,
      'certificate-authority': 'ca.crt',
      'insecure-skip-tls-verify': true,
      'tls-server-name': 'api',
      'proxy-url': 'http://proxy',
    };
    const user = { 'client-certificate': '/pki/me.crt', 'client-key': 'me.key', as: 'you', username: 1, password: 2 };
    expect(parseKubeconfig(kubeconfig(cluster, user), '/etc/kube/config')).to.deep.equal({
      cluster: {
        name: 'mine',
        server: 'https://192.0.2.1:6443',
        skipTLSVerify: true,
        caFile: '/etc/kube/ca.crt',
        tlsServerName: 'api',
        proxyUrl: 'http://proxy',
      },
      user: {
        name: 'me',
        certFile: '/pki/me.crt',
        keyFile: '/etc/kube/me.key',
        impersonateUser: 'you',
        username: '1',
        password: '2',
      },
      extension: undefined,
    });
  });

  it('reads whom the server is to take the user for', () => {
    const other = { 'as-uid': 7, 'as-groups': ['dev', 'a,b'], 'as-user-extra': { 'x.io/y': ['1', '2'], none: null } };
    expect(parseKubeconfig(kubeconfig(SERVER, { as: 'you', ...other }), '/x')?.user).to.deep.equal({
      name: 'me',
      impersonateUser: 'you',
      impersonateUid: '7',
      impersonateGroups: ['dev', 'a,b'],
      impersonateExtra: { 'x.io/y': ['1', '2'], none: [] },
    });
    for (const [field, value] of Object.entries(other)) {
      expect(() => parseKubeconfig(kubeconfig(SERVER, { [field]: value }), '/x')).to.throw(
        'user me has as-uid, as-groups or as-user-extra, and no as: whom they belong to',
      );
    }
    expect(parseKubeconfig(kubeconfig(SERVER, { 'as-groups': [], 'as-user-extra': {} }), '/x')?.user).to.deep.equal({
      name: 'me',
    });
  });

  it('prefers a token file to a token', () => {
    const login = parseKubeconfig(kubeconfig(SERVER, { token: 'old', tokenFile: 'token' }), '/etc/kube/config');
    expect(login?.user).to.deep.equal({ name: 'me', tokenFile: '/etc/kube/token' });
  });

  it('keeps what is written in it as data, and what others are asked for', () => {
    const extensions = [{ name: 'x' }, { name: 'client.authentication.k8s.io/exec', extension: { audience: 'y' } }];
    const login = parseKubeconfig(
      kubeconfig(
        { ...SERVER, 'certificate-authority-data': 'Y2E=', extensions },
        { 'client-certificate-data': 'Yw==', 'client-key-data': 'aw==', exec: { command: 'x' }, 'auth-provider': {} },
      ),
      '/etc/kube/config',
    );
    expect(login?.cluster).to.include({ caData: 'Y2E=' });
    expect(login?.extension).to.deep.equal({ audience: 'y' });
    expect(login?.user).to.deep.equal({
      name: 'me',
      certData: 'Yw==',
      keyData: 'aw==',
      exec: { command: 'x' },
      authProvider: {},
    });
  });

  it('follows merge keys, and takes what YAML has as booleans for names', () => {
    const text = [
      'x: &me { token: secret }',
      'current-context: true',
      'contexts: [{ name: true, context: { cluster: mine, user: me } }]',
      'clusters: [{ name: mine, cluster: { server: "https://192.0.2.1" } }]',
      'users: [{ name: me, user: { <<: *me } }]',
    ];
    expect(parseKubeconfig(text.join('\n'), '/x')?.user).to.deep.equal({ name: 'me', token: 'secret' });
  });

  it('may be without a user, or without anything of the user', () => {
    for (const user of [undefined, null, {}, { token: '' }]) {
      expect(parseKubeconfig(kubeconfig(SERVER, user), '/x')?.user).to.deep.equal({ name: 'me' });
    }
  });

  for (const text of ['', 'kind: Config', kubeconfig(SERVER).replace('"here"', '"nowhere"')]) {
    it(`names no cluster in ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(parseKubeconfig(text, '/x')).to.equal(undefined);
    });
  }

  const MASTER = 'https://192.0.2.9';
  const { 'current-context': _, ...withoutCurrent } = JSON.parse(kubeconfig(SERVER, { token: 'secret' }));
  const mastered = [
    {
      name: 'a cluster that is there',
      text: kubeconfig(SERVER, { token: 'secret' }),
      user: { name: 'me', token: 'secret' },
    },
    {
      name: 'a cluster without a server',
      text: kubeconfig({}, { token: 'secret' }),
      user: { name: 'me', token: 'secret' },
    },
    {
      name: 'a cluster that is not there',
      text: kubeconfig(SERVER, { token: 'secret' }).replace('"cluster":"mine"', '"cluster":"none"'),
      user: { name: 'me', token: 'secret' },
    },
    { name: 'no current context', text: JSON.stringify(withoutCurrent), user: { name: '' } },
    { name: 'an empty one', text: "current-context: ''", user: { name: '' } },
    { name: 'nothing', text: '', user: { name: '' } },
  ];
  for (const { name, text, user } of mastered) {
    it(`takes the server from --master where it has ${name}`, () => {
      const login = parseKubeconfig(text, '/x', MASTER);
      expect([login?.cluster.server, login?.user]).to.deep.equal([MASTER, user]);
    });
  }

  it('keeps the authority of its cluster beside --master', () => {
    const login = parseKubeconfig(kubeconfig({ ...SERVER, 'certificate-authority': 'ca.crt' }), '/etc/config', MASTER);
    expect(login?.cluster).to.include({ server: MASTER, caFile: '/etc/ca.crt' });
  });

  it('is refused beside --master, too, where it names a current context that is not there', () =>
    expect(parseKubeconfig(kubeconfig(SERVER).replace('"here"', '"nowhere"'), '/x', MASTER)).to.equal(undefined));

  const unusable = [
    { text: '- a\n- b', message: /^it is not as in a kubeconfig: / },
    { text: 'clusters: none', message: /^it is not as in a kubeconfig: .*clusters/ },
    { text: kubeconfig({}), message: /^cluster mine is not as in a kubeconfig: .*server/ },
    { text: kubeconfig(undefined), message: /^cluster mine is not as in a kubeconfig: / },
    { text: kubeconfig(SERVER, { token: [] }), message: /^user me is not as in a kubeconfig: .*token/ },
    { text: '{ a: [', message: /./ },
  ];
  for (const { text, message } of unusable) {
    it(`is none with ${text.replaceAll('\n', ' ').slice(-60)}`, () => {
      expect(() => parseKubeconfig(text, '/x')).to.throw(message);
    });
  }

  it('has the service account of a pod in its place', () => {
    const login = serviceAccount({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' });
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    expect(login?.cluster).to.include({ server: 'https://[fd00::1]:443', caFile: `${folder}/ca.crt` });
    expect(login?.user).to.include({ tokenFile: `${folder}/token` });
    expect(serviceAccount({ KUBERNETES_SERVICE_HOST: '10.0.0.1' })).to.equal(undefined);
  });
});
