import { schedulerFlagNames } from '../desired/scheduler-flags.ts';
import { cidrFamily, parseCidr } from '../net/cidr.ts';
import { formatDuration } from './duration.ts';
import type { FieldProblem } from './parse-fields.ts';
import type { IpvsProxierConfiguration, KubeProxyConfiguration } from './schema.ts';

/**
 * Rules between fields. A rule is left out when one of its fields is among `wrong`, as its value is then only a default.
 *
 * Source: kubernetes/kubernetes pkg/proxy/apis/config/validation/validation.go
 */
export function checkTogether(config: KubeProxyConfiguration, wrong: readonly FieldProblem[]): readonly FieldProblem[] {
  return [...checkSyncPeriods(config), ...checkDetectLocal(config), ...checkClusterCidr(config)].filter(
    ({ field, because = [] }) => ![field, ...because].some((name) => isWrong(name, wrong)),
  );
}

/** Rules for the second document that depend on the first, whose wrong fields are `wrong`. */
export function checkOwnTogether(
  { schedulerFlags = [] }: IpvsProxierConfiguration,
  { ipvs }: KubeProxyConfiguration,
  wrong: readonly FieldProblem[],
): readonly FieldProblem[] {
  if (isWrong('ipvs.scheduler', wrong)) return [];
  const scheduler = ipvs.scheduler || DEFAULT_SCHEDULER;
  const names = schedulerFlagNames(scheduler);
  const allowed = names.map((name) => JSON.stringify(name)).join(', ');
  return schedulerFlags.flatMap((flag, index) => {
    if (names.includes(flag)) return [];
    const message = `must be a flag of ipvs.scheduler, ${scheduler}: one of ${allowed}; got ${JSON.stringify(flag)}`;
    return [{ field: `schedulerFlags[${index}]`, message }];
  });
}

/** The scheduler where none is named. */
export const DEFAULT_SCHEDULER = 'rr';

/** The CIDRs of the comma-separated text; what is no CIDR is `undefined` in its place. Empty text has none. */
export function splitClusterCidr(text: string) {
  return text.trim() === '' ? [] : text.split(',').map((part) => parseCidr(part.trim()));
}

function checkSyncPeriods({ ipvs: { syncPeriod, minSyncPeriod } }: KubeProxyConfiguration): FieldProblem[] {
  if (minSyncPeriod <= syncPeriod) return [];
  const [longest, given] = [formatDuration(syncPeriod), formatDuration(minSyncPeriod)];
  const message = `must not be longer than ipvs.syncPeriod, ${longest}; got ${given}`;
  return [{ field: 'ipvs.minSyncPeriod', message, because: ['ipvs.syncPeriod'] }];
}

function checkDetectLocal({ detectLocalMode, detectLocal }: KubeProxyConfiguration): FieldProblem[] {
  if (detectLocalMode !== 'BridgeInterface' && detectLocalMode !== 'InterfaceNamePrefix') return [];
  const name = detectLocalMode === 'BridgeInterface' ? 'bridgeInterface' : 'interfaceNamePrefix';
  if (detectLocal[name] !== '') return [];
  const message = `must be set when detectLocalMode is ${detectLocalMode}; got ""`;
  return [{ field: `detectLocal.${name}`, message, because: ['detectLocalMode'] }];
}

function checkClusterCidr({ detectLocalMode, clusterCIDR }: KubeProxyConfiguration): FieldProblem[] {
  if (detectLocalMode !== '' && detectLocalMode !== 'ClusterCIDR') return [];
  const cidrs = splitClusterCidr(clusterCIDR);
  const families = cidrs.map((cidr) => cidr && cidrFamily(cidr));
  if (!families.includes(undefined) && new Set(families).size === cidrs.length) return [];
  const allowed = 'one CIDR, or an IPv4 and an IPv6 one with a comma between';
  const message = `must be ${allowed}; got ${JSON.stringify(clusterCIDR)}`;
  return [{ field: 'clusterCIDR', message, because: ['detectLocalMode'] }];
}

/** True for a wrong field, and for what is inside of one. */
export function isWrong(name: string, wrong: readonly FieldProblem[]): boolean {
  return wrong.some(({ field }) => name === field || name.startsWith(`${field}.`));
}
