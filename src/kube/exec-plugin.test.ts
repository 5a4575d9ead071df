import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ExecPlugin } from './exec-plugin.ts';

describe('kube/exec-plugin', () => {
  let directory: string;
  const { signal } = new AbortController();
  const file = (name: string) => join(directory, name);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'exec-plugin-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function plugin(section: object, cluster: object = {}): ExecPlugin {
    return new ExecPlugin(section, file('kubeconfig'), () => ({ ...cluster }));
  }
  const script = (text: string, more: object = {}) => plugin({ command: 'sh', args: ['-c', text], ...more });
  const credential = (status: object) => `echo '${JSON.stringify({ kind: 'ExecCredential', status })}'`;
  const failure = (asked: Promise<unknown>) =>
    asked.then(
      () => 'none',
      (error: Error) => error.message,
    );
  const runs = () => readFileSync(file('runs'), 'utf8').split('\n').length - 1;
  const counted = (status: object) => script(`echo run >> ${file('runs')}; ${credential(status)}`);

  it('hands out a token', async () => {
    const { token } = await script(credential({ token: 'secret' })).credentials(signal);
    expect(token).to.equal('secret');
  });

  it('may have fields that are null', async () => {
    const nothing = { env: null, installHint: null, interactiveMode: null, provideClusterInfo: null };
    const { token } = await script(credential({ token: 'secret' }), nothing).credentials(signal);
    expect(token).to.equal('secret');
  });

  it('hands out a certificate with its key', async () => {
    const status = { clientCertificateData: 'certificate', clientKeyData: 'key' };
    expect(await script(credential(status)).credentials(signal)).to.deep.equal(status);
  });

  it('keeps what is handed out without a time', async () => {
    const kept = counted({ token: 'secret' });
    await kept.credentials(signal);
    await kept.credentials(signal);
    expect(runs()).to.equal(1);
  });

  it('keeps what has not expired, and asks anew for what has', async () => {
    for (const [expirationTimestamp, count] of [
      ['2999-01-01T00:00:00Z', 1],
      ['2000-01-01T00:00:00Z', 3],
    ] as const) {
      const given = counted({ token: 'secret', expirationTimestamp });
      await given.credentials(signal);
      await given.credentials(signal);
      expect(runs()).to.equal(count);
    }
  });

  it('is told its environment, and that nobody is there to ask', async () => {
    const env = [{ name: 'REGION', value: 'eu' }];
    const apiVersion = 'client.authentication.k8s.io/v1beta1';
    const text = `echo "$REGION $KUBERNETES_EXEC_INFO" > ${file('told')}; ${credential({ token: 'x' })}`;
    await script(text, { env, apiVersion }).credentials(signal);
    const [region, info = ''] = readFileSync(file('told'), 'utf8').split(/ (.*)/s);
    expect(region).to.equal('eu');
    expect(JSON.parse(info)).to.deep.equal({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } });
  });

  it('is told of the cluster when it wants to be', async () => {
    const text = `echo "$KUBERNETES_EXEC_INFO" > ${file('told')}; ${credential({ token: 'x' })}`;
    const section = { command: 'sh', args: ['-c', text], provideClusterInfo: true };
    await plugin(section, { server: 'https://192.0.2.1' }).credentials(signal);
    const { spec } = JSON.parse(readFileSync(file('told'), 'utf8'));
    expect(spec).to.deep.equal({ cluster: { server: 'https://192.0.2.1' }, interactive: false });
  });

  it('is looked for from the folder of the kubeconfig when it has a slash', async () => {
    writeFileSync(file('plugin.sh'), `#!/bin/sh\n${credential({ token: 'beside' })}\n`);
    chmodSync(file('plugin.sh'), 0o755);
    expect(await plugin({ command: './plugin.sh' }).credentials(signal)).to.include({ token: 'beside' });
  });

  it('finds its standard input empty', async () => {
    expect(await script(`cat; ${credential({ token: 'x' })}`).credentials(signal)).to.include({ token: 'x' });
  });

  for (const [name, text, message] of [
    ['fails with words', 'echo no login >&2; echo twice >&2; exit 3', 'plugin sh ended with status 3: no login twice'],
    ['fails without a word', 'exit 1', 'plugin sh ended with status 1 without a word'],
    ['is killed', 'kill -KILL $$', 'plugin sh ended by SIGKILL without a word'],
    ['prints nothing', 'true', 'plugin sh printed no ExecCredential with a status'],
    ['prints no JSON', 'echo hello', 'plugin sh printed no ExecCredential with a status'],
    ['prints no status', 'echo "{}"', 'plugin sh printed no ExecCredential with a status'],
    ['hands out nothing', credential({}), 'plugin sh handed out neither a token nor a certificate with its key'],
    [
      'hands out a certificate without its key',
      credential({ clientCertificateData: 'x' }),
      'plugin sh handed out neither a token nor a certificate with its key',
    ],
  ] as const) {
    it(`says so when it ${name}`, async () => {
      expect(await failure(script(text).credentials(signal))).to.equal(message);
    });
  }

  it('says so when it is not there, with the hint of the kubeconfig', async () => {
    const absent = plugin({ command: 'no-such-plugin', installHint: 'apt install it' });
    expect(await failure(absent.credentials(signal))).to.equal('plugin no-such-plugin is not there; apt install it');
  });

  it('says so when it cannot be started', async () => {
    writeFileSync(file('plugin'), '');
    expect(await failure(plugin({ command: './plugin' }).credentials(signal))).to.match(/cannot be started: EACCES$/);
  });

  it('is asked again after a failure', async () => {
    const text = `[ -e ${file('ran')} ] || { touch ${file('ran')}; exit 1; }; ${credential({ token: 'x' })}`;
    const flaky = script(text);
    expect(await failure(flaky.credentials(signal))).to.match(/status 1/);
    expect(await flaky.credentials(signal)).to.include({ token: 'x' });
  });

  it('is killed with all that it has started when it is not wanted any more', async () => {
    const controller = new AbortController();
    const text = `mkfifo ${file('pipe')}; (echo $$ > ${file('pid')}; cat ${file('pipe')}) & wait`;
    const asked = failure(script(text).credentials(controller.signal));
    while (!existsSync(file('pid')) || readFileSync(file('pid'), 'utf8') === '') await turn();
    controller.abort();
    expect(await asked).to.equal('plugin sh was stopped');
    const group = -Number(readFileSync(file('pid'), 'utf8'));
    while (isAlive(group)) await turn();
  });

  for (const [name, section, message] of [
    ['has no command', {}, /section exec of the user: .*command/],
    ['wants a terminal', { command: 'x', interactiveMode: 'Always' }, /plugin x wants a terminal/],
  ] as const) {
    it(`is refused when it ${name}`, () => {
      expect(() => plugin(section)).to.throw(message);
    });
  }
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
