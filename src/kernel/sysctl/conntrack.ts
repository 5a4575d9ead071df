import type { SysctlSetting } from './state.ts';

/** Limits of the kernel's table of tracked connections. A timeout of 0 is left as it is, one below a second becomes 0 s. */
export interface ConntrackLimits {
  /** Tracked connections for each CPU; 0 leaves the limit as it is, whatever `min` says. */
  readonly maxPerCore: number;
  readonly min: number;
  readonly tcpEstablishedTimeoutMs: number;
  readonly tcpCloseWaitTimeoutMs: number;
  /** `false` leaves the switch as it is. */
  readonly tcpBeLiberal: boolean;
  readonly udpTimeoutMs: number;
  readonly udpStreamTimeoutMs: number;
}

/** Where the limit stands, in connections. */
export const CONNTRACK_MAX = 'net/netfilter/nf_conntrack_max';

/** Buckets of the table; no sysctl, so the whole path. It is raised only, and writable in the first network namespace only. */
export const CONNTRACK_HASH_SIZE = '/sys/module/nf_conntrack/parameters/hashsize';

/**
 * Settings of connection tracking for a machine with so many CPUs.
 *
 * Source: kubernetes/kubernetes pkg/proxy/conntrack/sysctls.go
 */
export function wantedConntrack(limits: ConntrackLimits, cpus: number): readonly SysctlSetting[] {
  const max = conntrackMax(limits, cpus);
  const setting = (path: string, value: number): SysctlSetting => ({ path, value: `${value}`, need: 'required' });
  const timeout = (name: string, ms: number) =>
    ms > 0 ? [setting(`net/netfilter/nf_conntrack_${name}`, Math.floor(ms / 1000))] : [];
  return [
    ...(max > 0 ? [setting(CONNTRACK_MAX, max)] : []),
    ...timeout('tcp_timeout_established', limits.tcpEstablishedTimeoutMs),
    ...timeout('tcp_timeout_close_wait', limits.tcpCloseWaitTimeoutMs),
    ...(limits.tcpBeLiberal ? [setting('net/netfilter/nf_conntrack_tcp_be_liberal', 1)] : []),
    ...timeout('udp_timeout', limits.udpTimeoutMs),
    ...timeout('udp_timeout_stream', limits.udpStreamTimeoutMs),
  ];
}

/** The limit on tracked connections; 0 leaves it as it is. */
export function conntrackMax({ maxPerCore, min }: ConntrackLimits, cpus: number): number {
  return maxPerCore > 0 ? Math.max(maxPerCore * cpus, min) : 0;
}
