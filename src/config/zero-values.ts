import { parseDuration } from './duration.ts';
import { getField, type RawConfig, withoutField } from './raw-config.ts';

/**
 * Fields that a file cannot set to 0 or "": Go's defaulting takes the zero value for "not given". Flags can.
 *
 * Source: kubernetes/kubernetes pkg/proxy/apis/config/v1alpha1/defaults.go
 */
export const ZERO_MEANS_DEFAULT: readonly string[] = [
  'clientConnection.contentType',
  'clientConnection.qps',
  'clientConnection.burst',
  'logging.format',
  'logging.flushFrequency',
  'bindAddress',
  'healthzBindAddress',
  'metricsBindAddress',
  'iptables.syncPeriod',
  'iptables.minSyncPeriod',
  'ipvs.syncPeriod',
  'nftables.syncPeriod',
  'nftables.minSyncPeriod',
  'configSyncPeriod',
];

/** A copy without those fields where they are zero. */
export function withoutZeroValues(raw: RawConfig): RawConfig {
  return ZERO_MEANS_DEFAULT.map((field) => field.split('.'))
    .filter((path) => isZeroValue(getField(raw, path)))
    .reduce(withoutField, raw);
}

/** As Go's decoding sees it: 0, a duration of 0, or empty text. */
export function isZeroValue(value: unknown): boolean {
  return value === 0 || value === '' || (typeof value === 'string' && parseDuration(value) === 0);
}
