import yargs, { type Argv, type Options } from 'yargs';
import type { Flag } from '../config/flag.ts';
import { readFlag } from '../config/flag-values.ts';
import { FLAGS } from '../config/flags.ts';
import { suggest } from '../config/suggest.ts';
import {
  DIFF_EXAMPLES,
  EXPLAIN_EXAMPLES,
  EXPLAIN_OPTIONS,
  EXPLAIN_TARGET,
  OBJECT_OPTIONS,
  withExamples,
} from './comparison-options.ts';
import type { ExitCode } from './exit-code.ts';
import { RECORD_FORMS, type RecordForm } from './format-record.ts';
import { OUTPUT_FORMS, type OutputForm } from './output.ts';
import type { Terminal } from './terminal.ts';
import { readVersionFlag } from './version-flag.ts';

/** Configuration flags as given, by name without dashes. */
export type GivenFlags = Readonly<Record<string, unknown>>;

export interface RunArguments {
  readonly flags: GivenFlags;
  readonly mode: 'daemon' | 'dry-run' | 'init-only';
  readonly form: OutputForm;
  /** File that takes what the cluster tells, as a trace. */
  readonly record?: string;
}

/** Where objects come from, and for which node. */
export interface ObjectArguments {
  readonly flags: GivenFlags;
  /** None: the API server is asked. */
  readonly files: readonly string[];
  readonly node: string | undefined;
  /** `eth0=192.168.0.10/24,…`, one text for each time the option was given. */
  readonly nodeAddresses: readonly string[];
}

export interface RenderArguments extends ObjectArguments {
  readonly form: OutputForm;
}

export type DiffArguments = RenderArguments;

export interface ExplainArguments extends ObjectArguments {
  /** A Service, or an address that clients dial. */
  readonly target: string;
  /** `required`: it is an error where this node cannot be read. */
  readonly kernel: 'required' | 'if-possible' | 'no';
  readonly form: RecordForm;
}

/** What is not given has a default, or is taken from the configuration file. */
export interface ReplayArguments {
  /** File, or `-` for standard input; absent when a trace is made up. */
  readonly trace?: string;
  readonly generate?: string;
  /** File that takes the trace that is made up; it is not run then. */
  readonly write?: string;
  readonly config?: string;
  readonly node?: string;
  readonly passMs?: string;
  readonly serviceMs?: string;
  readonly minSyncPeriod?: string;
  readonly syncPeriod?: string;
  readonly form: 'table' | 'json';
}

/** Ways in which a node can have been programmed. */
export const CLEANED_MODES = ['ipvs', 'iptables', 'nftables'] as const;

export type CleanedMode = (typeof CLEANED_MODES)[number];

export interface CleanupArguments {
  readonly flags: GivenFlags;
  /** What is removed, each once. */
  readonly of: readonly CleanedMode[];
  readonly action: 'remove' | 'dry-run';
}

export interface DoctorArguments {
  readonly flags: GivenFlags;
  readonly form: RecordForm;
}

export interface StatusArguments {
  /** `config` and `metrics-bind-address`, which say where the daemon listens. */
  readonly flags: GivenFlags;
  /** `namespace/name` of the only one that is told of in detail. */
  readonly service?: string;
  readonly form: RecordForm;
}

/** What the commands do once their arguments are understood. `version` is the one that they report. */
export interface Commands {
  readonly run: (args: RunArguments, version: string) => Promise<ExitCode>;
  /** Writes the configuration in force to a file. */
  readonly writeConfig: (flags: GivenFlags, path: string) => Promise<ExitCode>;
  readonly render: (args: RenderArguments) => Promise<ExitCode>;
  readonly diff: (args: DiffArguments) => Promise<ExitCode>;
  readonly explain: (args: ExplainArguments) => Promise<ExitCode>;
  readonly replay: (args: ReplayArguments) => Promise<ExitCode>;
  readonly cleanup: (args: CleanupArguments, version: string) => Promise<ExitCode>;
  readonly doctor: (args: DoctorArguments) => Promise<ExitCode>;
  readonly status: (args: StatusArguments) => Promise<ExitCode>;
}

/** Understands a command line and carries it out. What cannot be understood is one line on stderr and status 2. */
export async function runCommandLine(
  words: readonly string[],
  version: string,
  commands: Commands,
  terminal: Terminal,
): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const carryOut =
    (command: (given: GivenFlags, version: string) => Promise<ExitCode>) => async (parsed: GivenFlags) => {
      const given = withoutRepetitions(parsed);
      refuseWords(given);
      const wish = readVersionFlag(texts(given.version).at(-1), version);
      if (!wish.ok) throw new UsageError(wish.error);
      if (wish.value.kind === 'go-on') exitCode = await command(given, wish.value.version);
      else await terminal.output(wish.value.text);
    };
  const parser = yargs(words.flatMap(spellOut))
    .scriptName('ipvs-proxier')
    .usage('$0 [command] [options]\n\nA drop-in replacement for kube-proxy in ipvs mode.')
    .parserConfiguration({ 'camel-case-expansion': false, 'boolean-negation': false, 'populate--': true })
    .command(
      ['run', '$0'],
      'the node daemon',
      (command) => configOptions(outputOption(command)).option('dry-run', DRY_RUN).option('record', RECORD),
      carryOut((given, reported) => {
        if (isOn(given, 'cleanup')) return commands.cleanup(cleanupArguments(given), reported);
        const args = runArguments(given);
        const path = texts(given['write-config-to']).at(-1) ?? '';
        return path === '' ? commands.run(args, reported) : commands.writeConfig(args.flags, path);
      }),
    )
    .command(
      'render',
      'print what would be programmed for objects in files',
      (command) => configOptions(outputOption(command)).options(RENDER_OPTIONS),
      carryOut((given) => commands.render(renderArguments(given))),
    )
    .command(
      'diff',
      "compare this node's kernel with what should be there; status 3 if anything would change",
      (command) => withExamples(configOptions(outputOption(command)).options(OBJECT_OPTIONS), DIFF_EXAMPLES),
      carryOut((given) => commands.diff(renderArguments(given))),
    )
    .command(
      'explain [target]',
      'tell why a Service, or an address, is served as it is',
      (command) =>
        withExamples(
          configOptions(command).positional('target', EXPLAIN_TARGET).options(OBJECT_OPTIONS).options(EXPLAIN_OPTIONS),
          EXPLAIN_EXAMPLES,
        ),
      (given: GivenFlags) =>
        carryOut((taken) => commands.explain(explainArguments(taken)))(withPositional(given, 'target')),
    )
    .command(
      'replay [trace]',
      'run a trace of cluster events through the queue on a simulated clock',
      (command) => command.positional('trace', TRACE).options(REPLAY_OPTIONS),
      (given: GivenFlags) =>
        carryOut((taken) => commands.replay(replayArguments(taken)))(withPositional(given, 'trace')),
    )
    .command(
      'cleanup',
      'remove what this program, or kube-proxy, made on this node',
      (command) => configOptions(command).option('of', OF).option('dry-run', CLEANUP_DRY_RUN),
      carryOut((given, reported) => commands.cleanup(cleanupArguments(given), reported)),
    )
    .command(
      'doctor',
      'check this node, and change nothing',
      (command) =>
        configOptions(command)
          .option('output', RECORD_OUTPUT)
          .example('$0 doctor --config /var/lib/kube-proxy/config.conf', 'as the daemon is configured')
          .example('$0 doctor -o json | jq -r ".findings[].id"', 'names of what was found'),
      carryOut((given) => {
        refuseWriting(given);
        return commands.doctor({ flags: configFlags(given), form: recordForm(given) });
      }),
    )
    .command(
      'status',
      'ask the daemon of this node how it is',
      (command) =>
        command
          .options(STATUS_OPTIONS)
          .example('$0 status', 'how the daemon of this node is')
          .example('$0 status --service shop/cart', 'with what the kernel has of that Service')
          .example('$0 status -o json', 'with every Service'),
      carryOut((given) => commands.status(statusArguments(given))),
    )
    .strictOptions()
    .version(false)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .wrap(Math.min(120, process.stdout.columns ?? 100))
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    });
  try {
    await parser.parseAsync();
  } catch (error) {
    if (!(error instanceof UsageError) && (error as Error).name !== 'YError') throw error;
    terminal.error(`ipvs-proxier: ${explainUsage((error as Error).message)}; see ipvs-proxier --help`);
    return 2;
  }
  return exitCode;
}

class UsageError extends Error {}

/**
 * The long way of what may be written in several: older flags have underscores for dashes, a value may stick to its letter (`-ojson`), and
 * a boolean flag without a value, which Go never takes from the next word, is true.
 */
function spellOut(word: string): readonly string[] {
  const [, letter, value] = /^-([ofv])=?(.+)$/.exec(word) ?? [];
  if (letter !== undefined && value !== undefined) return [`-${letter}`, value];
  const dashed = word.replace(/^--[\w-]+/, (name) => name.replaceAll('_', '-'));
  return [BOOLEANS.has(dashed.slice(2)) && dashed.startsWith('--') ? `${dashed}=true` : dashed];
}

const BOOLEANS: ReadonlySet<string> = new Set([
  ...FLAGS.filter(({ type }) => type === 'bool' || type === 'version').map(({ name }) => name),
  'dry-run',
  'kernel',
]);

/** Of a flag that has one value the last counts, as in pflag; what lists and maps are given several times is joined later. */
function withoutRepetitions(given: GivenFlags): GivenFlags {
  const single = FLAGS.filter(({ name, type }) => Array.isArray(given[name]) && type !== 'list' && type !== 'map');
  return { ...given, ...Object.fromEntries(single.map(({ name }) => [name, texts(given[name]).at(-1)])) };
}

/** Words that no option takes, those behind `--` among them; without the name of the command. */
function looseWords(given: GivenFlags): readonly string[] {
  const [first, ...others] = texts(given._);
  const words = first === undefined || COMMANDS.includes(first) ? others : [first, ...others];
  return [...words, ...texts(given['--'])];
}

const COMMANDS = ['run', 'render', 'diff', 'explain', 'replay', 'cleanup', 'doctor', 'status'];

/** As kube-proxy, which lets empty words pass: some DaemonSets give one. */
function refuseWords(given: GivenFlags): void {
  const word = looseWords(given).find((each) => each !== '' && each !== '""');
  if (word !== undefined) throw new UsageError(`unknown argument ${word}`);
}

/** What a command is about may stand behind `--`. */
function withPositional(given: GivenFlags, name: 'trace' | 'target'): GivenFlags {
  const [word, ...others] = texts(given['--']);
  return given[name] === undefined && word !== undefined ? { ...given, [name]: word, '--': others } : given;
}

function runArguments(given: GivenFlags): RunArguments {
  const [initOnly, dryRun] = [isOn(given, 'init-only'), isOn(given, 'dry-run')];
  if (initOnly && dryRun) throw new UsageError('--init-only changes the node and --dry-run does not; give one of them');
  const mode = initOnly ? 'init-only' : dryRun ? 'dry-run' : 'daemon';
  const file = texts(given.record).at(-1);
  if (file === undefined) return { flags: configFlags(given), mode, form: outputForm(given) };
  if (mode !== 'daemon') throw new UsageError('--record needs the daemon; leave out --dry-run and --init-only');
  return { flags: configFlags(given), mode, form: outputForm(given), record: file };
}

/** Of `cleanup`, or of `run --cleanup`. */
function cleanupArguments(given: GivenFlags): CleanupArguments {
  if (given.output !== undefined && outputForm(given) !== 'script') {
    throw new UsageError('--output is not an option of the clean-up');
  }
  const named = CLEANED_MODES.filter((mode) => texts(given.of).includes(mode));
  return {
    flags: configFlags(given),
    of: named.length === 0 ? ['ipvs'] : named,
    action: isOn(given, 'dry-run') ? 'dry-run' : 'remove',
  };
}

function replayArguments(given: GivenFlags): ReplayArguments {
  const last = (name: string) => texts(given[name]).at(-1);
  const [word, generate, write] = [last('trace'), last('generate'), last('write')];
  const trace = word === '' ? '-' : word;
  if (trace === undefined && generate === undefined) throw new UsageError('replay needs a trace, or --generate');
  if (trace !== undefined && generate !== undefined) throw new UsageError('give a trace or --generate, not both');
  if (write !== undefined && generate === undefined) throw new UsageError('--write needs --generate');
  const words = {
    trace,
    generate,
    write,
    config: last('config'),
    node: last('node'),
    passMs: last('pass-ms'),
    serviceMs: last('service-ms'),
    minSyncPeriod: last('min-sync-period'),
    syncPeriod: last('sync-period'),
  };
  const named = Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined));
  return { ...named, form: last('output') === 'json' ? 'json' : 'table' };
}

/** The flag is there in every command that reads the configuration. */
function refuseWriting(given: GivenFlags): void {
  if (!texts(given['write-config-to']).some(Boolean)) return;
  throw new UsageError('--write-config-to is not an option of this command');
}

function statusArguments(given: GivenFlags): StatusArguments {
  const service = texts(given.service).at(-1);
  if (service !== undefined && !/^[^/\s]+\/[^/\s]+$/.test(service)) {
    throw new UsageError(`--service: ${JSON.stringify(service)} is not NAMESPACE/NAME`);
  }
  return { flags: configFlags(given), form: recordForm(given), ...(service === undefined ? {} : { service }) };
}

function recordForm(given: GivenFlags): RecordForm {
  return (texts(given.output).at(-1) ?? 'text') as RecordForm;
}

function renderArguments(given: GivenFlags): RenderArguments {
  return { ...objectArguments(given), form: outputForm(given) };
}

function objectArguments(given: GivenFlags): ObjectArguments {
  refuseWriting(given);
  return {
    flags: configFlags(given),
    files: texts(given.filename),
    node: texts(given.node).at(-1),
    nodeAddresses: texts(given['node-addresses']),
  };
}

/** Without a word about it the kernel of this machine counts where the objects are about this machine. */
function explainArguments(given: GivenFlags): ExplainArguments {
  const args = objectArguments(given);
  const target = texts(given.target).at(-1) ?? '';
  if (target === '') throw new UsageError('explain needs a Service or an address, such as shop/cart or 10.96.0.10:80');
  const isHere = args.files.length === 0 && args.node === undefined;
  const asked = given.kernel === undefined ? undefined : isOn(given, 'kernel');
  const kernel = asked === undefined ? (isHere ? 'if-possible' : 'no') : asked ? 'required' : 'no';
  return { ...args, target, kernel, form: recordForm(given) };
}

/** A flag that says what the process does, in any of Go's spellings. */
function isOn(given: GivenFlags, name: string): boolean {
  const value = given[name] === undefined ? false : readFlag({ type: 'bool' }, given[name]);
  if (typeof value !== 'boolean') throw new UsageError(`--${name}: ${JSON.stringify(value)} is neither true nor false`);
  return value;
}

function outputForm(given: GivenFlags): OutputForm {
  return (texts(given.output).at(-1) ?? 'script') as OutputForm;
}

/** An option that was given not at all, once or several times. */
function texts(value: unknown): readonly string[] {
  return value === undefined ? [] : [value].flat().map(String);
}

function configFlags(given: GivenFlags): GivenFlags {
  return Object.fromEntries(FLAGS.map(({ name }) => [name, given[name]]).filter(([, value]) => value !== undefined));
}

function configOptions<T>(command: Argv<T>): Argv<T> {
  return FLAGS.reduce<Argv<T>>((argv, flag) => argv.option(flag.name, yargsOption(flag)) as Argv<T>, command);
}

function yargsOption({ name, alias, type, kind, default: shown, description, deprecated }: Flag): Options {
  return {
    type: 'string',
    ...(alias ? { alias } : {}),
    describe: deprecated === undefined ? description : `${description} (deprecated: ${deprecated})`,
    ...(shown === '' || shown === 'false' ? {} : { defaultDescription: shown }),
    group:
      kind === 'logging'
        ? 'Logging:'
        : name.startsWith('ipvs-')
          ? 'IPVS:'
          : kind === 'setting'
            ? 'Settings:'
            : 'Process:',
    requiresArg: type !== 'bool' && type !== 'version',
  };
}

function outputOption<T>(command: Argv<T>) {
  const describe = 'form of what is printed';
  return command.option('output', { alias: 'o', choices: OUTPUT_FORMS, default: 'script', describe, group: 'Output:' });
}

const DRY_RUN: Options = {
  type: 'string',
  describe: 'read the cluster once, print what would be programmed, change nothing',
  group: 'Output:',
};

const CLEANUP_DRY_RUN: Options = {
  type: 'string',
  describe: 'print the scripts that would be run, change nothing',
  group: 'Output:',
};

const OF: Options = {
  type: 'string',
  choices: CLEANED_MODES,
  requiresArg: true,
  describe: 'what is removed: what this program and kube-proxy in ipvs mode made, or kube-proxy in another mode',
  defaultDescription: 'ipvs',
  group: 'Process:',
};

const RENDER_OPTIONS: Readonly<Record<string, Options>> = {
  filename: {
    alias: 'f',
    type: 'string',
    demandOption: true,
    requiresArg: true,
    describe: 'file, folder or - with Services, EndpointSlices and Nodes',
    group: 'Input:',
  },
  node: { type: 'string', requiresArg: true, describe: 'name of the Node to render for', group: 'Input:' },
  'node-addresses': {
    type: 'string',
    requiresArg: true,
    describe: "the node's addresses by interface, e.g. eth0=192.168.0.10/24,fd00::10/64",
    group: 'Input:',
  },
};

const RECORD: Options = {
  type: 'string',
  requiresArg: true,
  describe: 'write what the cluster tells into this file, for replay; compressed when its name ends in .gz',
  group: 'Output:',
};

const RECORD_OUTPUT = {
  alias: 'o',
  choices: RECORD_FORMS,
  default: 'text',
  describe: 'form of what is printed',
  group: 'Output:',
} as const;

const STATUS_OPTIONS: Readonly<Record<string, Options>> = {
  config: { type: 'string', requiresArg: true, describe: 'configuration file of the daemon', group: 'Input:' },
  'metrics-bind-address': {
    type: 'string',
    requiresArg: true,
    describe: 'where its metrics server listens, if not as the file says',
    defaultDescription: '127.0.0.1:10249',
    group: 'Input:',
  },
  service: {
    type: 'string',
    requiresArg: true,
    describe: 'NAMESPACE/NAME of a Service whose virtual servers and real servers are wanted',
    group: 'Input:',
  },
  output: RECORD_OUTPUT,
};

const TRACE = { type: 'string', describe: 'file with a trace, compressed or not; - is standard input' } as const;

const REPLAY_OPTIONS: Readonly<Record<string, Options>> = {
  generate: {
    type: 'string',
    requiresArg: true,
    describe:
      'make a trace up: slices=500,endpoints=10,changesPerSecond=200,seconds=60,mix=flap:70,replace:15,scale:10,noise:5,seed=1',
    group: 'Input:',
  },
  write: {
    type: 'string',
    requiresArg: true,
    describe: 'write the made-up trace to this file instead',
    group: 'Output:',
  },
  config: {
    type: 'string',
    requiresArg: true,
    describe: 'configuration file, for the queue and periods',
    group: 'Input:',
  },
  node: { type: 'string', requiresArg: true, describe: 'name of the Node to replay for', group: 'Input:' },
  'pass-ms': {
    type: 'string',
    requiresArg: true,
    describe: 'what a pass costs',
    defaultDescription: '20',
    group: 'Model:',
  },
  'service-ms': {
    type: 'string',
    requiresArg: true,
    describe: 'and what each Service in it costs',
    defaultDescription: '0.05',
    group: 'Model:',
  },
  'min-sync-period': {
    type: 'string',
    requiresArg: true,
    describe: 'least time between two passes, e.g. 500ms',
    defaultDescription: '1s',
    group: 'Model:',
  },
  'sync-period': {
    type: 'string',
    requiresArg: true,
    describe: 'time after which there is a pass without a change',
    defaultDescription: '30s',
    group: 'Model:',
  },
  output: {
    alias: 'o',
    choices: ['table', 'json'],
    default: 'table',
    describe: 'form of what is printed',
    group: 'Output:',
  },
};

/** Fields of the file that people take for flags. */
const FIELDS_AS_FLAGS: Readonly<Record<string, string>> = { mode: 'proxy-mode' };

function explainUsage(message: string): string {
  const [first = '', ...rest] = message.split('\n').map((line) => line.trim());
  const unknown = /^Unknown arguments?: (.+)$/.exec(first)?.[1]?.split(', ') ?? [];
  if (unknown.length === 0) return [first, ...rest].filter(Boolean).join(' ');
  const options = [RENDER_OPTIONS, REPLAY_OPTIONS, EXPLAIN_OPTIONS, STATUS_OPTIONS].flatMap((each) =>
    Object.keys(each),
  );
  const known = [...FLAGS.map(({ name }) => name), 'dry-run', 'record', 'of', 'output', ...options];
  const explained = unknown.map((name) => {
    if (known.includes(name)) return `--${name} is not an option of this command`;
    const near = FIELDS_AS_FLAGS[name] ?? suggest(name, known);
    return near === undefined ? `unknown argument ${name}` : `unknown option --${name}, did you mean --${near}?`;
  });
  return explained.join('; ');
}
