import type { ConntrackLimits } from '../../src/kernel/sysctl/conntrack.ts';

/** Limits that leave everything as it is, but for those given. */
export function conntrackLimits(given: Partial<ConntrackLimits> = {}): ConntrackLimits {
  return {
    maxPerCore: 0,
    min: 0,
    tcpEstablishedTimeoutMs: 0,
    tcpCloseWaitTimeoutMs: 0,
    tcpBeLiberal: false,
    udpTimeoutMs: 0,
    udpStreamTimeoutMs: 0,
    ...given,
  };
}
