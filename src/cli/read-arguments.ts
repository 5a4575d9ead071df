import { readFlag } from '../config/flag-values.ts';
import { FLAGS } from '../config/flags.ts';
import {
  CLEANED_MODES,
  type CleanupArguments,
  type ExplainArguments,
  type GivenFlags,
  type ObjectArguments,
  type RenderArguments,
  type ReplayArguments,
  type RunArguments,
  type StatusArguments,
} from './arguments.ts';
import type { RecordForm } from './format-record.ts';
import { RUN_ONLY } from './options.ts';
import type { OutputForm } from './output.ts';
import { texts, UsageError } from './usage-error.ts';

export function runArguments(given: GivenFlags): RunArguments {
  const [initOnly, dryRun] = [isOn(given, 'init-only'), isOn(given, 'dry-run')];
  if (initOnly && dryRun) throw new UsageError('--init-only changes the node and --dry-run does not; give one of them');
  const mode = initOnly ? 'init-only' : dryRun ? 'dry-run' : 'daemon';
  const file = texts(given.record).at(-1);
  if (file === undefined) return { flags: configFlags(given), mode, form: outputForm(given) };
  if (mode !== 'daemon') throw new UsageError('--record needs the daemon; leave out --dry-run and --init-only');
  return { flags: configFlags(given), mode, form: outputForm(given), record: file };
}

/** Of `cleanup`, or of `run --cleanup`. */
export function cleanupArguments(given: GivenFlags): CleanupArguments {
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

export function replayArguments(given: GivenFlags): ReplayArguments {
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

/** What only the daemon's command does; the flags are there in every command that reads the configuration. */
export function refuseRunOnly(given: GivenFlags): void {
  const refused = RUN_ONLY.find((name) =>
    name === 'write-config-to' ? texts(given[name]).some(Boolean) : isOn(given, name),
  );
  if (refused !== undefined) throw new UsageError(`--${refused} is not an option of this command`);
}

export function statusArguments(given: GivenFlags): StatusArguments {
  const service = texts(given.service).at(-1);
  if (service !== undefined && !/^[^/\s]+\/[^/\s]+$/.test(service)) {
    throw new UsageError(`--service: ${JSON.stringify(service)} is not NAMESPACE/NAME`);
  }
  return { flags: configFlags(given), form: recordForm(given), ...(service === undefined ? {} : { service }) };
}

export function recordForm(given: GivenFlags): RecordForm {
  return (texts(given.output).at(-1) ?? 'text') as RecordForm;
}

export function renderArguments(given: GivenFlags): RenderArguments {
  return { ...objectArguments(given), form: outputForm(given) };
}

function objectArguments(given: GivenFlags): ObjectArguments {
  refuseRunOnly(given);
  return {
    flags: configFlags(given),
    files: texts(given.filename),
    node: texts(given.node).at(-1) || undefined,
    nodeAddresses: texts(given['node-addresses']),
  };
}

/** Without a word about it the kernel of this machine counts where the objects are about this machine. */
export function explainArguments(given: GivenFlags): ExplainArguments {
  const args = objectArguments(given);
  const target = texts(given.target).at(-1) ?? '';
  if (target === '') throw new UsageError('explain needs a Service or an address, such as shop/cart or 10.96.0.10:80');
  const isHere = args.files.length === 0 && args.node === undefined;
  const asked = given.kernel === undefined ? undefined : isOn(given, 'kernel');
  const kernel = asked === undefined ? (isHere ? 'if-possible' : 'no') : asked ? 'required' : 'no';
  return { ...args, target, kernel, form: recordForm(given) };
}

/** A flag that says what the process does, in any of Go's spellings. */
export function isOn(given: GivenFlags, name: string): boolean {
  const value = given[name] === undefined ? false : readFlag({ type: 'bool' }, given[name]);
  if (typeof value !== 'boolean') throw new UsageError(`--${name}: ${JSON.stringify(value)} is neither true nor false`);
  return value;
}

function outputForm(given: GivenFlags): OutputForm {
  return (texts(given.output).at(-1) ?? 'script') as OutputForm;
}

export function configFlags(given: GivenFlags): GivenFlags {
  return Object.fromEntries(FLAGS.map(({ name }) => [name, given[name]]).filter(([, value]) => value !== undefined));
}
