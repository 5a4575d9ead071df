import { expect } from 'chai';
import { type MachineSketch, machine } from './apply/files-fixture.ts';
import { checkNode, type LookedAt } from './check-node.ts';
import type { DoctorArguments } from './cli/arguments.ts';
import { fail, succeed } from './model/result.ts';

describe('check-node', () => {
  const RELEASE = { '/proc/sys/kernel/osrelease': '6.1.0\n' };

  async function check(sketch: MachineSketch, args: Partial<DoctorArguments> = {}, others: Partial<LookedAt> = {}) {
    const [printed, errors]: [string[], string[]] = [[], []];
    const terminal = {
      output: async (text: string) => {
        printed.push(text);
      },
      error: (line: string) => errors.push(line),
      input: async () => '',
    };
    const lookedAt: LookedAt = {
      host: machine(sketch),
      readLockHolder: async () => succeed(undefined),
      askProxyMode: async () => undefined,
      reachServer: async (url) => ({ url, addresses: succeed([]), connection: fail('ECONNREFUSED') }),
      ...others,
    };
    const exitCode = await checkNode({ flags: {}, form: 'text', ...args }, terminal, lookedAt);
    return { exitCode, printed: printed.join(''), errors };
  }

  it('ends with 3 when it found something, and says what it could not check', async () => {
    const { exitCode, printed, errors } = await check({ files: RELEASE });
    expect([exitCode, errors]).to.deep.equal([3, []]);
    expect(printed).to.include('\n  error: ipvsadm is not installed or not on PATH [tool-missing]\n');
    expect(printed).to.match(/\n {2}not checked: bridges: /);
    expect(printed).to.match(/\ndoctor: 5 errors, \d+ warnings\n$/);
  });

  it('ends with 1 where there is no such kernel to look at', async () => {
    expect(await check({})).to.deep.equal({
      exitCode: 1,
      printed: '',
      errors: ['error: this node cannot be looked at: /proc/sys/kernel/osrelease: ENOENT'],
    });
  });

  it('ends with 2 when the configuration is wrong', async () => {
    const { exitCode, printed } = await check({ files: RELEASE }, { flags: { 'ipvs-min-sync-period': 'soon' } });
    expect([exitCode, printed]).to.deep.equal([2, '']);
  });

  it('prints records for programs', async () => {
    const record = JSON.parse((await check({ files: RELEASE }, { form: 'json' })).printed);
    expect(Object.keys(record)).to.deep.equal(['errors', 'warnings', 'findings', 'notChecked']);
    expect(record.findings[0]).to.have.all.keys('group', 'level', 'id', 'saw', 'matters', 'remedy');
    expect((await check({ files: RELEASE }, { form: 'yaml' })).printed).to.match(/^errors: 5\n/);
  });

  it('asks the API server of the configuration whether it is there', async () => {
    const { printed } = await check({ files: RELEASE }, { flags: { master: 'https://192.0.2.1:6443' } });
    expect(printed).to.include('error: no connection to https://192.0.2.1:6443: ECONNREFUSED [api-unreachable]');
  });

  it('asks no API server that is behind a proxy, and says so', async () => {
    process.env.HTTPS_PROXY = 'http://me:secret@proxy:3128';
    const { printed } = await check({ files: RELEASE }, { flags: { master: 'https://192.0.2.1:6443' } });
    delete process.env.HTTPS_PROXY;
    expect(printed).to.include('not checked: the API server: it is asked through the proxy http://proxy:3128\n');
  });

  it('warns that nothing says who asks the API server', async () => {
    const { printed } = await check({ files: RELEASE }, { flags: { master: 'https://192.0.2.1:6443' } });
    expect(printed).to.include('warning: there are no credentials for https://192.0.2.1:6443 [api-anonymous]');
  });

  it('says so of a lock whose holder is silent', async () => {
    const readLockHolder: LookedAt['readLockHolder'] = async () => fail({ kind: 'lock-held' });
    const { printed } = await check({ files: RELEASE }, {}, { readLockHolder });
    expect(printed).to.include(
      'not checked: whether an ipvs-proxier runs: another process has abstract socket @ipvs-proxier',
    );
  });
});
