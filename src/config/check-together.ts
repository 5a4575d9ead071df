import { cidrFamily, parseCidr } from '../net/cidr.ts';
import { formatDuration } from './duration.ts';
import type { FieldProblem } from './parse-fields.ts';
import type { KubeProxyConfiguration } from './schema.ts';

/**
 * Rules between fields. A rule is left out when one of its fields is among `wrong`, as its value is then only a default.
 *
 * Source: kubernetes/kubernetes pkg/proxy/apis/config/validation/validation.go
 */
export function checkTogether(config: KubeProxyConfiguration, wrong: readonly FieldProblem[]): readonly FieldProblem[] {
  return [...checkSyncPeriods(config), ...checkDetectLocal(config), ...checkClusterCidr(config)]
    .filter(
      ({ involved }) =>
        !wrong.some(({ field }) => involved.some((name) => name === field || name.startsWith(`${field}.`))),
    )
    .map(({ field, message }) => ({ field, message }));
}

/** The CIDRs of the comma-separated text; what is no CIDR is `undefined` in its place. Empty text has none. */
export function splitClusterCidr(text: string) {
  return text.trim() === '' ? [] : text.split(',').map((part) => parseCidr(part.trim()));
}

interface Finding extends FieldProblem {
  readonly involved: readonly string[];
}

function checkSyncPeriods({ ipvs: { syncPeriod, minSyncPeriod } }: KubeProxyConfiguration): Finding[] {
  if (minSyncPeriod <= syncPeriod) return [];
  const message = `must not be longer than ipvs.syncPeriod, ${formatDuration(syncPeriod)}; got ${formatDuration(minSyncPeriod)}`;
  return [{ field: 'ipvs.minSyncPeriod', message, involved: ['ipvs.minSyncPeriod', 'ipvs.syncPeriod'] }];
}

function checkDetectLocal({ detectLocalMode, detectLocal }: KubeProxyConfiguration): Finding[] {
  const needed = { BridgeInterface: 'bridgeInterface', InterfaceNamePrefix: 'interfaceNamePrefix' } as const;
  if (detectLocalMode !== 'BridgeInterface' && detectLocalMode !== 'InterfaceNamePrefix') return [];
  const field = `detectLocal.${needed[detectLocalMode]}`;
  if (detectLocal[needed[detectLocalMode]] !== '') return [];
  return [
    {
      field,
      message: `must be set when detectLocalMode is ${detectLocalMode}; got ""`,
      involved: [field, 'detectLocalMode'],
    },
  ];
}

function checkClusterCidr({ detectLocalMode, clusterCIDR }: KubeProxyConfiguration): Finding[] {
  if (detectLocalMode !== '' && detectLocalMode !== 'ClusterCIDR') return [];
  const cidrs = splitClusterCidr(clusterCIDR);
  const families = cidrs.map((cidr) => cidr && cidrFamily(cidr));
  if (!families.includes(undefined) && new Set(families).size === cidrs.length) return [];
  const message = `must be one CIDR, or an IPv4 and an IPv6 one with a comma between; got ${JSON.stringify(clusterCIDR)}`;
  return [{ field: 'clusterCIDR', message, involved: ['clusterCIDR', 'detectLocalMode'] }];
}
