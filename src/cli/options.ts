import type { Argv, Options } from 'yargs';
import type { Flag } from '../config/flag.ts';
import { FLAGS } from '../config/flags.ts';
import { CLEANED_MODES } from './arguments.ts';
import { RECORD_FORMS } from './format-record.ts';
import { OUTPUT_FORMS } from './output.ts';

/** Flags that say what the daemon's command does instead; other commands refuse them and leave them out of their help. */
export const RUN_ONLY: readonly string[] = ['write-config-to', 'cleanup', 'init-only'];

/** The flags of all commands that read the configuration. */
export function configOptions<T>(command: Argv<T>): Argv<T> {
  return addFlags(command, ({ name }) => !RUN_ONLY.includes(name));
}

export function runOptions<T>(command: Argv<T>): Argv<T> {
  return addFlags(command, () => true);
}

function addFlags<T>(command: Argv<T>, isShown: (flag: Flag) => boolean): Argv<T> {
  return FLAGS.reduce<Argv<T>>(
    (argv, flag) => argv.option(flag.name, { ...yargsOption(flag), hidden: !isShown(flag) }) as Argv<T>,
    command,
  );
}

/** A boolean flag has no type here, as yargs would take every word but `true` for false; its help names none either, as pflag's. */
function yargsOption({ name, alias, type, kind, default: shown, description, deprecated }: Flag): Options {
  const isBoolean = type === 'bool' || type === 'version';
  return {
    ...(isBoolean ? {} : { type: 'string' }),
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
    requiresArg: !isBoolean,
  };
}

export function outputOption<T>(command: Argv<T>) {
  const describe = 'form of what is printed';
  return command.option('output', { alias: 'o', choices: OUTPUT_FORMS, default: 'script', describe, group: 'Output:' });
}

export const DRY_RUN: Options = {
  describe: 'read the cluster once, print what would be programmed, change nothing',
  group: 'Output:',
};

export const CLEANUP_DRY_RUN: Options = {
  describe: 'print the scripts that would be run, change nothing',
  group: 'Output:',
};

export const OF: Options = {
  type: 'string',
  choices: CLEANED_MODES,
  requiresArg: true,
  describe: 'what is removed: what this program and kube-proxy in ipvs mode made, or kube-proxy in another mode',
  defaultDescription: 'ipvs',
  group: 'Process:',
};

export const RENDER_OPTIONS: Readonly<Record<string, Options>> = {
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

export const RECORD: Options = {
  type: 'string',
  requiresArg: true,
  describe: 'write what the cluster tells into this file, for replay; compressed when its name ends in .gz',
  group: 'Output:',
};

export const RECORD_OUTPUT = {
  alias: 'o',
  choices: RECORD_FORMS,
  default: 'text',
  describe: 'form of what is printed',
  group: 'Output:',
} as const;

export const STATUS_OPTIONS: Readonly<Record<string, Options>> = {
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

export const TRACE = { type: 'string', describe: 'file with a trace, compressed or not; - is standard input' } as const;

export const REPLAY_OPTIONS: Readonly<Record<string, Options>> = {
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
