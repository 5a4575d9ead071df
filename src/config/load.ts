import type { z } from 'zod';
import { fail, type Result, succeed } from '../model/result.ts';
import { parsePort } from '../net/port.ts';
import { checkQueue } from './check-queue.ts';
import { checkOwnTogether, checkTogether } from './check-together.ts';
import type { ConfigError } from './config-error.ts';
import { type EffectiveDocuments, effectiveDocuments } from './effective-documents.ts';
import type { Flag } from './flag.ts';
import { flagOfField, type GivenFlags, givenFlags, readFlag, withFlags } from './flag-values.ts';
import { FLAGS } from './flags.ts';
import { collectNotices, weightsNotice } from './notices.ts';
import { type FieldProblem, parseFields } from './parse-fields.ts';
import type { ProxyConfig } from './proxy-config.ts';
import { type RawConfig, withField } from './raw-config.ts';
import { type ConfigDocuments, type ConfigFile, readDocuments } from './read-documents.ts';
import { withoutRemovedFields } from './removed-fields.ts';
import { resolveConfig } from './resolve.ts';
import { ipvsProxierConfiguration, kubeProxyConfiguration } from './schema.ts';
import { withoutZeroValues } from './zero-values.ts';

export interface ConfigSources {
  readonly file?: ConfigFile;
  /** Only flags that were given, by name without dashes; names unknown here are left to others. */
  readonly flags: GivenFlags;
}

/**
 * Merges file and flags into the configuration in force, or gives everything that is wrong with them. A file replaces all
 * flags for settings; those for logging, for the node's name, for the API server and for the behaviour beat the file.
 *
 * Source: kubernetes/kubernetes cmd/kube-proxy/app/options.go
 */
export function loadConfig(sources: ConfigSources): Result<ProxyConfig, readonly ConfigError[]> {
  const loaded = loadEffective(sources);
  return loaded.ok ? succeed(loaded.value.config) : loaded;
}

/** A configuration, and the documents of a file that would give it. */
export interface EffectiveConfig {
  readonly config: ProxyConfig;
  readonly documents: EffectiveDocuments;
}

export function loadEffective({ file, flags }: ConfigSources): Result<EffectiveConfig, readonly ConfigError[]> {
  const documents = file ? readDocuments(file) : NO_DOCUMENTS;
  if (!documents.ok) return documents;
  const counting = givenFlags(flags, file ? ['override', 'logging'] : ['override', 'logging', 'setting']);
  const { raw, notices } = file ? fromFile(documents.value.kubeProxy) : { raw: FLAG_DEFAULTS, notices: [] };
  const main = readDocument(kubeProxyConfiguration, raw, {
    given: flags,
    counting: counting.filter((flag) => !isOwn(flag)),
    file,
  });
  const own = readDocument(ipvsProxierConfiguration, documents.value.own, {
    given: flags,
    counting: counting.filter(isOwn),
    file,
  });
  const together = checkTogether(main.value, main.problems).map(main.locate);
  const ownTogether = checkOwnTogether(own.value, main.value, main.problems).map(own.locate);
  const queue = checkQueue(own.value.queue, own.problems).map(own.locate);
  const ports = readPorts(file ? {} : flags);
  const errors = [
    ...main.problems.map(main.locate),
    ...together,
    ...own.problems.map(own.locate),
    ...ownTogether,
    ...queue,
    ...ports.errors,
  ];
  if (errors.length > 0) return fail(errors);
  const config = resolveConfig(main.value, own.value, {
    master: asText(flags.master),
    healthzPort: ports.healthzPort,
    metricsPort: ports.metricsPort,
    ignoredFlags: file ? givenFlags(flags, ['setting']).map(({ name }) => name) : [],
    notices: [
      ...notices,
      ...collectNotices({ ...main.value, mode: saidMode(main.value.mode, file, counting) }, counting),
      ...weightsNotice(own.value),
    ],
  });
  return succeed({ config, documents: effectiveDocuments(main.value, own.value, config) });
}

/** On a plain command line nobody expects the mode to be given. */
function saidMode<Mode>(mode: Mode, file: ConfigFile | undefined, counting: readonly Flag[]): Mode | 'ipvs' {
  return file || counting.some(({ name }) => name === 'proxy-mode') ? mode : 'ipvs';
}

const NO_DOCUMENTS: Result<ConfigDocuments, readonly ConfigError[]> = succeed({ kubeProxy: {}, own: {} });

/** Without a file the least time between passes is 1 s; in a file it is 0 unless set. */
const FLAG_DEFAULTS: RawConfig = withField({}, ['ipvs', 'minSyncPeriod'], '1s');

function fromFile(document: RawConfig): { readonly raw: RawConfig; readonly notices: readonly string[] } {
  const { raw, notices } = withoutRemovedFields(document);
  return { raw: withoutZeroValues(raw), notices };
}

/** True for flags that stand for a field of the second document. */
function isOwn({ field }: Flag): boolean {
  return field !== undefined && Object.hasOwn(ipvsProxierConfiguration.unwrap().shape, field);
}

interface FlagsAndFile {
  readonly given: GivenFlags;
  readonly counting: readonly Flag[];
  readonly file: ConfigFile | undefined;
}

/** Lays flags over one document and reads the outcome; an empty override is none. */
function readDocument<Schema extends z.ZodType>(
  schema: Schema,
  raw: RawConfig,
  { given, counting, file }: FlagsAndFile,
) {
  const used = counting.filter(({ kind, name }) => kind !== 'override' || given[name] !== '');
  const locate = ({ field, message, because = [] }: FieldProblem): ConfigError => {
    const [flag] = [field, ...because].flatMap((name) => flagOfField(name, used) ?? []);
    return { where: flag ? `--${flag.name}` : (file?.name ?? 'flags'), field, message };
  };
  return { ...parseFields(schema, withFlags(raw, used, given)), locate };
}

/** The deprecated flags that have no field. */
function readPorts(flags: GivenFlags) {
  const errors: ConfigError[] = [];
  const read = (name: string, byDefault: number): number => {
    const flag = FLAGS.find((other) => other.name === name);
    const port = flag && flags[name] !== undefined ? readFlag(flag, flags[name]) : byDefault;
    if (port === 0 || parsePort(port) !== undefined) return Number(port);
    errors.push({
      where: `--${name}`,
      field: '',
      message: `must be a port from 1 to 65535, or 0; got ${JSON.stringify(port)}`,
    });
    return byDefault;
  };
  return { healthzPort: read('healthz-port', 10256), metricsPort: read('metrics-port', 10249), errors };
}

function asText(value: unknown): string | undefined {
  const last = Array.isArray(value) ? value.at(-1) : value;
  return typeof last === 'string' ? last : undefined;
}
