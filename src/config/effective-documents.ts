import { type CreateNodeOptions, type SchemaOptions, stringify, type ToStringOptions } from 'yaml';
import { same } from '../model/same.ts';
import type { BindAddress } from './bind-address.ts';
import { formatDuration } from './duration.ts';
import { fieldNames } from './field-names.ts';
import type { ProxyConfig } from './proxy-config.ts';
import { getField, type RawConfig, withField } from './raw-config.ts';
import { YAML11_BOOL } from './read-documents.ts';
import {
  type IpvsProxierConfiguration,
  ipvsProxierConfiguration,
  type KubeProxyConfiguration,
  kubeProxyConfiguration,
} from './schema.ts';
import { isZeroValue, ZERO_MEANS_DEFAULT } from './zero-values.ts';

/** The configuration in force as the two documents of a file: every field that has a value, defaults filled in, values as a file has them. */
export interface EffectiveDocuments {
  readonly kubeProxy: RawConfig;
  readonly own: RawConfig;
}

/** What was checked of each document, and what became of both, as documents again. */
export function effectiveDocuments(
  file: KubeProxyConfiguration,
  own: IpvsProxierConfiguration,
  config: ProxyConfig,
): EffectiveDocuments {
  const kubeProxy: RawConfig = {
    ...file,
    mode: 'ipvs',
    hostnameOverride: config.hostnameOverride ?? '',
    bindAddress: config.bindAddress,
    healthzBindAddress: formatListen(config.healthzBindAddress),
    metricsBindAddress: formatListen(config.metricsBindAddress),
    detectLocalMode: config.detectLocal.mode,
    ipvs: { ...file.ipvs, scheduler: config.ipvs.scheduler },
    nodePortAddresses: config.nodePortAddresses,
  };
  return { kubeProxy: withDurations(kubeProxy), own: withDurations(own) };
}

/** As a file, which read back gives the same configuration but for what {@link unwritable} names. */
export function writeDocuments({ kubeProxy, own }: EffectiveDocuments): string {
  return [kubeProxy, own].map((document) => stringify(document, FORM)).join('---\n');
}

/** Sorted as kube-proxy does. What the reader would take for a boolean is put in quotes. */
const FORM: ToStringOptions & CreateNodeOptions & SchemaOptions = {
  lineWidth: 0,
  aliasDuplicateObjects: false,
  sortMapEntries: true,
  customTags: [YAML11_BOOL],
};

/** One sentence for each setting that flags can make and a file cannot. */
export function unwritable({ kubeProxy }: EffectiveDocuments, { master }: ProxyConfig): readonly string[] {
  const zero = ZERO_MEANS_DEFAULT.filter((field) => isZeroValue(getField(kubeProxy, field.split('.'))));
  return [
    ...zero.map((field) => `${field}: a file cannot set this to 0 or empty; read back it has its default`),
    ...(master === undefined ? [] : ['--master: a file has no field for this']),
  ];
}

/** One field that differs between two configurations. */
export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Fields in the order of the documents. */
export function changedFields(from: EffectiveDocuments, to: EffectiveDocuments): readonly FieldChange[] {
  const compare = (names: readonly string[], before: RawConfig, after: RawConfig): FieldChange[] =>
    names.flatMap((field) => {
      const [old, current] = [before, after].map((document) => getField(document, field.split('.')));
      return same(old, current) ? [] : [{ field, from: old, to: current }];
    });
  return [
    ...compare(fieldNames(kubeProxyConfiguration), from.kubeProxy, to.kubeProxy),
    ...compare(fieldNames(ipvsProxierConfiguration), from.own, to.own),
  ];
}

/** Fields that are read as milliseconds and written as durations. */
export const DURATION_FIELDS: readonly string[] = [
  'logging.flushFrequency',
  ...['iptables', 'ipvs', 'nftables'].flatMap((mode) => [`${mode}.syncPeriod`, `${mode}.minSyncPeriod`]),
  ...['tcpTimeout', 'tcpFinTimeout', 'udpTimeout'].map((name) => `ipvs.${name}`),
  ...['tcpEstablishedTimeout', 'tcpCloseWaitTimeout', 'udpTimeout', 'udpStreamTimeout'].map(
    (name) => `conntrack.${name}`,
  ),
  'configSyncPeriod',
  ...['critical', 'high', 'normal', 'low'].map((level) => `queue.delays.${level}`),
  'draining.limit',
  'queue.batchWindow',
  ...['readiness.fast', 'readiness.slow', 'update.base', 'update.max', 'minor.fast', 'minor.slow'].map(
    (name) => `queue.retries.${name}`,
  ),
];

function withDurations(document: RawConfig): RawConfig {
  return DURATION_FIELDS.map((field) => field.split('.')).reduce((rest, path) => {
    const durationMs = getField(rest, path);
    return typeof durationMs === 'number' ? withField(rest, path, formatDuration(durationMs)) : rest;
  }, document);
}

/** Empty for a server that is switched off. */
function formatListen(listen: BindAddress | undefined): string {
  if (listen === undefined) return '';
  return listen.address.includes(':') ? `[${listen.address}]:${listen.port}` : `${listen.address}:${listen.port}`;
}
