import { expect } from 'chai';
import { FLAGS } from '../config/flags.ts';
import type {
  CleanupArguments,
  DiffArguments,
  DoctorArguments,
  ExplainArguments,
  GivenFlags,
  RenderArguments,
  ReplayArguments,
  RunArguments,
  StatusArguments,
} from './arguments.ts';
import { runCommandLine } from './command-line.ts';
import type { ExitCode } from './exit-code.ts';

describe('cli/command-line', () => {
  interface Outcome {
    readonly exitCode: ExitCode;
    readonly output: string;
    readonly errors: readonly string[];
    readonly run?: RunArguments;
    readonly written?: { readonly flags: GivenFlags; readonly path: string };
    readonly render?: RenderArguments;
    readonly diff?: DiffArguments;
    readonly explain?: ExplainArguments;
    readonly replay?: ReplayArguments;
    readonly cleanup?: CleanupArguments;
    readonly reported?: string;
    readonly doctor?: DoctorArguments;
    readonly status?: StatusArguments;
  }

  /** Carries a command line out, each command ending with its own status. */
  async function carryOut(...words: readonly string[]): Promise<Outcome> {
    const seen: { -readonly [Field in keyof Omit<Outcome, 'exitCode' | 'errors'>]: Outcome[Field] } & {
      errors: string[];
    } = {
      output: '',
      errors: [],
    };
    const exitCode = await runCommandLine(
      words,
      '1.2.3',
      {
        run: async (args, version) => {
          seen.run = args;
          seen.reported = version;
          return 1;
        },
        writeConfig: async (flags, path) => {
          seen.written = { flags, path };
          return 0;
        },
        render: async (args) => {
          seen.render = args;
          return 3;
        },
        diff: async (args) => {
          seen.diff = args;
          return 3;
        },
        explain: async (args) => {
          seen.explain = args;
          return 1;
        },
        replay: async (args) => {
          seen.replay = args;
          return 1;
        },
        cleanup: async (args, version) => {
          seen.cleanup = args;
          seen.reported = version;
          return 0;
        },
        doctor: async (args) => {
          seen.doctor = args;
          return 3;
        },
        status: async (args) => {
          seen.status = args;
          return 1;
        },
      },
      {
        output: async (text) => {
          seen.output += text;
        },
        error: (line) => seen.errors.push(line),
        input: async () => '',
      },
    );
    return { exitCode, ...seen };
  }

  const runs: readonly (readonly [readonly string[], Partial<RunArguments>])[] = [
    [[], {}],
    [['run'], {}],
    [['--hostname-override=node-a'], { flags: { 'hostname-override': 'node-a' } }],
    [['run', '--hostname-override', 'node-a'], { flags: { 'hostname-override': 'node-a' } }],
    [['--masquerade-all'], { flags: { 'masquerade-all': 'true' } }],
    [['--masquerade-all=false'], { flags: { 'masquerade-all': 'false' } }],
    [['--cluster-cidr=10.0.0.0/8,fd00::/8', '-v', '4'], { flags: { 'cluster-cidr': '10.0.0.0/8,fd00::/8', v: '4' } }],
    [['--ipvs-min-sync-period=0'], { flags: { 'ipvs-min-sync-period': '0' } }],
    [['--oom_score_adj=-999'], { flags: { 'oom-score-adj': '-999' } }],
    [['--config=/etc/config.yaml'], { flags: { config: '/etc/config.yaml' } }],
    [['--init-only'], { mode: 'init-only', flags: { 'init-only': 'true' } }],
    [['--dry-run'], { mode: 'dry-run' }],
    [['--dry-run', '-o', 'json'], { mode: 'dry-run', form: 'json' }],
    [['--dry-run=false', '--output=ipset'], { form: 'ipset' }],
    [['--cleanup=false'], { flags: { cleanup: 'false' } }],
    [['--record', 'trace.jsonl.gz'], { record: 'trace.jsonl.gz' }],
    [['--config', 'a', '--config=b'], { flags: { config: 'b' } }],
    [['--config=a', '--config='], { flags: { config: '' } }],
    [['-v', '2', '--v=4'], { flags: { v: '4' } }],
    [['--masquerade-all', '--masquerade-all=false'], { flags: { 'masquerade-all': 'false' } }],
    [['--dry-run', '--dry-run=false'], {}],
    [['--cluster-cidr=10.0.0.0/8', '--cluster-cidr=fd00::/8'], { flags: { 'cluster-cidr': 'fd00::/8' } }],
    [
      ['--ipvs-exclude-cidrs=10.0.0.0/8', '--ipvs-exclude-cidrs=fd00::/8'],
      { flags: { 'ipvs-exclude-cidrs': ['10.0.0.0/8', 'fd00::/8'] } },
    ],
    [[''], {}],
    [['run', '', '--config=a', ''], { flags: { config: 'a' } }],
    [['--', ''], {}],
  ];
  for (const [words, wanted] of runs) {
    it(`runs the daemon for ${JSON.stringify(words.join(' '))}`, async () => {
      const { exitCode, output, errors, run } = await carryOut(...words);
      expect(run).to.deep.equal({ flags: {}, mode: 'daemon', form: 'script', ...wanted });
      expect({ exitCode, output, errors }).to.deep.equal({ exitCode: 1, output: '', errors: [] });
    });
  }

  const writes: readonly (readonly [readonly string[], GivenFlags])[] = [
    [['--write-config-to=/tmp/x'], {}],
    [['run', '--write-config-to', '/tmp/x', '--config=c.yaml'], { config: 'c.yaml' }],
    [['--write-config-to=y', '--write-config-to=/tmp/x', '--masquerade-all'], { 'masquerade-all': 'true' }],
  ];
  for (const [words, flags] of writes) {
    it(`writes the configuration and does nothing else for ${words.join(' ')}`, async () => {
      const { written, run, errors, exitCode } = await carryOut(...words);
      expect(written?.path).to.equal('/tmp/x');
      expect(written?.flags).to.deep.include(flags);
      expect([run, errors, exitCode]).to.deep.equal([undefined, [], 0]);
    });
  }

  it('runs where the file to write to is empty', async () =>
    expect((await carryOut('--write-config-to=')).run?.mode).to.equal('daemon'));

  const rendered: RenderArguments = {
    flags: {},
    files: ['a.yaml'],
    node: undefined,
    nodeAddresses: [],
    form: 'script',
  };
  const renders: readonly (readonly [readonly string[], Partial<RenderArguments>])[] = [
    [['-f', 'a.yaml'], {}],
    [['--filename', '-'], { files: ['-'] }],
    [['-f', 'a.yaml', '-f', 'b'], { files: ['a.yaml', 'b'] }],
    [['-f', 'a.yaml', '--node', 'node-a', '-o', 'yaml'], { node: 'node-a', form: 'yaml' }],
    [
      ['-f', 'a.yaml', '--node-addresses', 'eth0=10.0.0.1/8', '--node-addresses', 'eth1=10.1.0.1/16'],
      { nodeAddresses: ['eth0=10.0.0.1/8', 'eth1=10.1.0.1/16'] },
    ],
    [['-f', 'a.yaml', '--ipvs-scheduler', 'mh'], { flags: { 'ipvs-scheduler': 'mh' } }],
  ];
  for (const [words, wanted] of renders) {
    it(`renders files for ${words.join(' ')}`, async () => {
      const { exitCode, output, errors, render, run } = await carryOut('render', ...words);
      expect([render, run]).to.deep.equal([{ ...rendered, ...wanted }, undefined]);
      expect({ exitCode, output, errors }).to.deep.equal({ exitCode: 3, output: '', errors: [] });
    });
  }

  it('takes the last of every flag that has one value', async () => {
    for (const { name, type } of FLAGS.filter(({ type }) => type !== 'list' && type !== 'map')) {
      const [first, last] = type === 'bool' || type === 'version' ? ['true', 'false'] : ['1', '2'];
      const { run, written, errors } = await carryOut(`--${name}=${first}`, `--${name}=${last}`);
      expect((run ?? written)?.flags[name], name).to.equal(last);
      expect(errors).to.deep.equal([]);
    }
  });

  const replays: readonly (readonly [readonly string[], Partial<ReplayArguments>])[] = [
    [['trace.jsonl.gz'], { trace: 'trace.jsonl.gz' }],
    [['-'], { trace: '-' }],
    [['--', 'trace.jsonl'], { trace: 'trace.jsonl' }],
    [['--generate', 'mix=noise:100,seed=2'], { generate: 'mix=noise:100,seed=2' }],
    [['--generate=seed=2', '--write', 'a.gz'], { generate: 'seed=2', write: 'a.gz' }],
    [
      ['a', '--pass-ms', '5', '--service-ms=0.1', '--min-sync-period', '500ms', '--sync-period=1m'],
      { trace: 'a', passMs: '5', serviceMs: '0.1', minSyncPeriod: '500ms', syncPeriod: '1m' },
    ],
    [
      ['a', '--config=c.yaml', '--node=node-a', '-ojson'],
      { trace: 'a', config: 'c.yaml', node: 'node-a', form: 'json' },
    ],
  ];
  for (const [words, wanted] of replays) {
    it(`replays for ${words.join(' ')}`, async () => {
      const { exitCode, output, errors, replay, run } = await carryOut('replay', ...words);
      expect([replay, run]).to.deep.equal([{ form: 'table', ...wanted }, undefined]);
      expect({ exitCode, output, errors }).to.deep.equal({ exitCode: 1, output: '', errors: [] });
    });
  }

  const diffs: readonly (readonly [readonly string[], Partial<DiffArguments>])[] = [
    [[], {}],
    [['-o', 'ipvs', '--config=c.yaml'], { form: 'ipvs', flags: { config: 'c.yaml' } }],
    [
      ['-f', 'a', '-fb', '--node', 'node-a', '--node-addresses=eth0=192.168.0.10/24'],
      { files: ['a', 'b'], node: 'node-a', nodeAddresses: ['eth0=192.168.0.10/24'] },
    ],
  ];
  for (const [words, wanted] of diffs) {
    it(`compares the node for ${['diff', ...words].join(' ')}`, async () => {
      const { exitCode, output, errors, diff, run } = await carryOut('diff', ...words);
      const none = { flags: {}, files: [], node: undefined, nodeAddresses: [], form: 'script' };
      expect([diff, run]).to.deep.equal([{ ...none, ...wanted }, undefined]);
      expect({ exitCode, output, errors }).to.deep.equal({ exitCode: 3, output: '', errors: [] });
    });
  }

  const explanations: readonly (readonly [readonly string[], Partial<ExplainArguments>])[] = [
    [['shop/cart'], { target: 'shop/cart' }],
    [['10.96.0.10:80', '-o', 'json'], { target: '10.96.0.10:80', form: 'json' }],
    [['--', 'cart:http'], { target: 'cart:http' }],
    [['[fd00::1]:80', '--kernel'], { target: '[fd00::1]:80', kernel: 'required' }],
    [['cart', '--kernel=false'], { target: 'cart', kernel: 'no' }],
    [['cart', '-f', 'a'], { target: 'cart', files: ['a'], kernel: 'no' }],
    [['cart', '-f', 'a', '--kernel'], { target: 'cart', files: ['a'], kernel: 'required' }],
    [
      ['--node=node-b', '--kubeconfig=k', 'cart'],
      { target: 'cart', node: 'node-b', kernel: 'no', flags: { kubeconfig: 'k' } },
    ],
  ];
  for (const [words, wanted] of explanations) {
    it(`explains for ${['explain', ...words].join(' ')}`, async () => {
      const { exitCode, output, errors, explain, run } = await carryOut('explain', ...words);
      const none = { flags: {}, files: [], node: undefined, nodeAddresses: [], kernel: 'if-possible', form: 'text' };
      expect([explain, run]).to.deep.equal([{ ...none, ...wanted }, undefined]);
      expect({ exitCode, output, errors }).to.deep.equal({ exitCode: 1, output: '', errors: [] });
    });
  }

  it('takes an empty name of the Node, as an unset variable of a script gives one, for none', async () => {
    expect((await carryOut('render', '-f', 'a', '--node', '')).render?.node).to.equal(undefined);
    expect((await carryOut('diff', '--node=')).diff?.node).to.equal(undefined);
  });

  const cleanups: readonly (readonly [readonly string[], Partial<CleanupArguments>])[] = [
    [['cleanup'], {}],
    [['--cleanup'], { flags: { cleanup: 'true' } }],
    [['run', '--cleanup=true', '--init-only'], { flags: { cleanup: 'true', 'init-only': 'true' } }],
    [['--cleanup', '--dry-run'], { flags: { cleanup: 'true' }, action: 'dry-run' }],
    [['cleanup', '--dry-run', '--config=c.yaml'], { flags: { config: 'c.yaml' }, action: 'dry-run' }],
    [['cleanup', '--of', 'nftables', '--of=iptables'], { of: ['iptables', 'nftables'] }],
  ];
  for (const [words, wanted] of cleanups) {
    it(`removes what is on the node for ${words.join(' ')}`, async () => {
      const { exitCode, output, errors, cleanup, run } = await carryOut(...words);
      expect([cleanup, run]).to.deep.equal([{ flags: {}, of: ['ipvs'], action: 'remove', ...wanted }, undefined]);
      expect({ exitCode, output, errors }).to.deep.equal({ exitCode: 0, output: '', errors: [] });
    });
  }

  const doctors: readonly (readonly [readonly string[], DoctorArguments])[] = [
    [['doctor'], { flags: {}, form: 'text' }],
    [['doctor', '--config=c.yaml', '-ojson'], { flags: { config: 'c.yaml' }, form: 'json' }],
    [['doctor', '--ipvs-strict-arp', '-o', 'yaml'], { flags: { 'ipvs-strict-arp': 'true' }, form: 'yaml' }],
  ];
  for (const [words, wanted] of doctors) {
    it(`checks the node for ${words.join(' ')}`, async () => {
      const { exitCode, errors, doctor } = await carryOut(...words);
      expect([doctor, exitCode, errors]).to.deep.equal([wanted, 3, []]);
    });
  }

  const statuses: readonly (readonly [readonly string[], StatusArguments])[] = [
    [['status'], { flags: {}, form: 'text' }],
    [['status', '--service=shop/cart', '-o', 'json'], { flags: {}, form: 'json', service: 'shop/cart' }],
    [
      ['status', '--config=c.yaml', '--metrics-bind-address', '127.0.0.1:1'],
      { flags: { config: 'c.yaml', 'metrics-bind-address': '127.0.0.1:1' }, form: 'text' },
    ],
  ];
  for (const [words, wanted] of statuses) {
    it(`asks the daemon for ${words.join(' ')}`, async () => {
      const { exitCode, errors, status } = await carryOut(...words);
      expect([status, exitCode, errors]).to.deep.equal([wanted, 1, []]);
    });
  }

  const misused: readonly (readonly [readonly string[], string])[] = [
    [['--proxy-mod=ipvs'], 'unknown option --proxy-mod, did you mean --proxy-mode?'],
    [['--ipvs-shceduler=rr'], 'unknown option --ipvs-shceduler, did you mean --ipvs-scheduler?'],
    [['render', '-f', 'a', '--node-adresses=x'], 'unknown option --node-adresses, did you mean --node-addresses?'],
    [['--xyzzy=1'], 'unknown argument xyzzy'],
    [['explain'], 'explain needs a Service or an address, such as shop/cart or 10.96.0.10:80'],
    [['explain', 'cart', 'web'], 'unknown argument web'],
    [['explain', 'cart', '--kernel=maybe'], '--kernel: "maybe" is neither true nor false'],
    [['diff', 'cart'], 'unknown argument cart'],
    [['diff', '--kernal'], 'unknown option --kernal, did you mean --kernel?'],
    [['diff', '--write-config-to=x'], '--write-config-to is not an option of this command'],
    [['start'], 'unknown argument start'],
    [['run', 'now'], 'unknown argument now'],
    [['--', 'foo'], 'unknown argument foo'],
    [['run', '--', 'foo'], 'unknown argument foo'],
    [['run', '--config=a', '--', '', '--v=2'], 'unknown argument --v=2'],
    [['--', 'run'], 'unknown argument run'],
    [['run', '0'], 'unknown argument 0'],
    [['render', '-f', 'a', 'b'], 'unknown argument b'],
    [['render', '-f', 'a', '--', 'b'], 'unknown argument b'],
    [['replay', 'a', 'b'], 'unknown argument b'],
    [['replay', '--', 'a', 'b'], 'unknown argument b'],
    [['--mode', 'ipvs'], 'unknown option --mode, did you mean --proxy-mode?'],
    [['--mode=ipvs'], 'unknown option --mode, did you mean --proxy-mode?'],
    [['--ipvs-scheduler'], 'Not enough arguments following: ipvs-scheduler'],
    [['--dry-run', '-o', 'text'], 'Given: "text"'],
    [['render'], 'render needs the objects: -f FILE, a folder, or - for standard input'],
    [['explian', 'cart'], 'unknown argument explian, did you mean explain?'],
    [['version'], 'unknown argument version, did you mean --version?'],
    [['run', 'dry-run'], 'unknown argument dry-run, did you mean --dry-run?'],
    [['explain', 'cart', '-n', 'shop'], 'unknown option -n'],
    [['render', '-f'], 'Not enough arguments following: f'],
    [['--cleanup', '-o', 'ipvs'], '--output is not an option of the clean-up'],
    [['cleanup', '--of', 'userspace'], 'Given: "userspace"'],
    [['cleanup', '--record', 'a'], '--record is not an option of this command'],
    [['--of', 'iptables'], '--of is not an option of this command'],
    [['render', '-f', 'a', '--write-config-to=x'], '--write-config-to is not an option of this command'],
    [['render', '-f', 'a', '--dry-run'], 'dry-run'],
    [['doctor', '--write-config-to=x'], '--write-config-to is not an option of this command'],
    [['diff', '--cleanup'], '--cleanup is not an option of this command'],
    [['explain', 'cart', '--init-only'], '--init-only is not an option of this command'],
    [['doctor', '--cleanup=true'], '--cleanup is not an option of this command'],
    [['doctor', '-o', 'script'], 'Given: "script"'],
    [['doctor', '--service', 'a/b'], '--service is not an option of this command'],
    [['status', '--service', 'cart'], '--service: "cart" is not NAMESPACE/NAME'],
    [['status', '--proxy-mode=ipvs'], '--proxy-mode is not an option of this command'],
    [['status', '--servise=a/b'], 'unknown option --servise, did you mean --service?'],
    [['status', 'shop/cart'], 'unknown argument shop/cart'],
    [['--dry-run', '--record', 'a'], '--record needs the daemon'],
    [['--init-only', '--record', 'a'], '--record needs the daemon'],
    [['render', '-f', 'a', '--record', 'b'], '--record is not an option of this command'],
    [['replay'], 'replay needs a trace, or --generate'],
    [['replay', 'a', '--generate', 'seed=1'], 'give a trace or --generate, not both'],
    [['replay', 'a', '--write', 'b'], '--write needs --generate'],
    [['replay', 'a', '--pas-ms=1'], 'unknown option --pas-ms, did you mean --pass-ms?'],
    [['replay', 'a', '-o', 'yaml'], 'Given: "yaml"'],
  ];
  for (const [words, message] of misused) {
    it(`ends with status 2 and one line on stderr for ${words.join(' ')}`, async () => {
      const { exitCode, output, errors, run, render } = await carryOut(...words);
      expect([exitCode, output, run, render]).to.deep.equal([2, '', undefined, undefined]);
      expect(errors).to.have.lengthOf(1);
      expect(errors[0]).to.include(message);
      expect(errors[0]).to.match(/^ipvs-proxier: [^\n]*; see ipvs-proxier --help$/);
    });
  }

  for (const words of [['--version'], ['--version=true'], ['run', '--version']]) {
    it(`prints its version and does nothing else for ${words.join(' ')}`, async () => {
      expect(await carryOut(...words)).to.deep.equal({ exitCode: 0, output: 'ipvs-proxier 1.2.3\n', errors: [] });
    });
  }

  it('prints all of its version for --version=raw', async () => {
    const { exitCode, output } = await carryOut('--version=raw');
    expect([exitCode, JSON.parse(output).gitVersion]).to.deep.equal([0, 'v1.2.3']);
  });

  it('reports the version that --version names, in run and in cleanup', async () => {
    expect(await carryOut('--version=v1.33.2-eks')).to.deep.include({ reported: '1.33.2-eks', output: '' });
    expect(await carryOut('cleanup', '--version=v0.0.1')).to.deep.include({ reported: '0.0.1', output: '' });
    expect(await carryOut('run')).to.deep.include({ reported: '1.2.3' });
  });

  it('refuses another value of --version', async () => {
    const { exitCode, errors } = await carryOut('--version=maybe');
    expect(exitCode).to.equal(2);
    expect(errors.join()).to.include('--version: "maybe" is neither true, false or raw');
  });

  it('runs for --version=false', async () => {
    const { run, output } = await carryOut('--version=false');
    expect([run?.mode, output]).to.deep.equal(['daemon', '']);
  });

  it('lets what a command throws through, so that a bug is not taken for misuse', async () => {
    const commands = {
      run: () => Promise.reject(new Error('a bug')),
      writeConfig: async () => 0 as const,
      render: async () => 0 as const,
      diff: async () => 0 as const,
      explain: async () => 0 as const,
      replay: async () => 0 as const,
      cleanup: async () => 0 as const,
      doctor: async () => 0 as const,
      status: async () => 0 as const,
    };
    const silent = { output: async () => {}, error: () => {}, input: async () => '' };
    const ended = await runCommandLine([], '1.2.3', commands, silent).catch((error: Error) => error.message);
    expect(ended).to.equal('a bug');
  });
});
