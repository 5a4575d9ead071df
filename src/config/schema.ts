import type { z } from 'zod';
import { SCHEDULER_FLAGS } from '../desired/scheduler-flags.ts';
import { MAX_ENTRIES } from '../kernel/ipset/state.ts';
import { parseDuration } from './duration.ts';
import {
  bindAddress,
  bool,
  cidr,
  duration,
  field,
  float,
  integer,
  ipAddress,
  list,
  map,
  oneOf,
  section,
  text,
  textLike,
} from './fields.ts';
import { parseNodePortAddress } from './node-port-addresses.ts';
import { parsePortRange } from './port-range.ts';
import { queueSection } from './queue-section.ts';

export const KUBE_PROXY_DOCUMENT = {
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
} as const;
export const OWN_DOCUMENT = { apiVersion: 'ipvs-proxier.dev/v1alpha1', kind: 'IPVSProxierConfiguration' } as const;

const INTERFACE = /^[^\s/"':,]{1,15}$/;
const interfaceName = () =>
  textLike('an interface name of up to 15 characters without blanks, quotes and slashes', INTERFACE);

/**
 * kube-proxy's configuration file, every field of every mode, so that a file written for kube-proxy is accepted as it is.
 * Durations come out in milliseconds. A value that is absent gets its default here; which zero values count as absent is in
 * `zero-values.ts`, rules between fields are in `check-together.ts`.
 *
 * Source: kubernetes/kube-proxy config/v1alpha1/types.go (1.37), kubernetes/kubernetes pkg/proxy/apis/config
 */
export const kubeProxyConfiguration = section({
  apiVersion: oneOf([KUBE_PROXY_DOCUMENT.apiVersion]).default(KUBE_PROXY_DOCUMENT.apiVersion),
  kind: oneOf([KUBE_PROXY_DOCUMENT.kind]).default(KUBE_PROXY_DOCUMENT.kind),
  featureGates: map(bool()).default({}),
  clientConnection: section({
    kubeconfig: text().default(''),
    acceptContentTypes: text().default(''),
    contentType: text().default('application/vnd.kubernetes.protobuf'),
    qps: float().default(5),
    burst: integer(0).default(10),
  }),
  logging: section({
    format: oneOf(['text', 'json']).optional(),
    flushFrequency: logFlushFrequency().default(5_000),
    verbosity: integer(0).default(0),
    vmodule: list(section({ filePattern: text().default(''), verbosity: integer(0).default(0) })).default([]),
    options: section({ text: outputRouting(), json: outputRouting() }),
  }),
  hostnameOverride: textLike('a node name', /\S/).default(''),
  bindAddress: ipAddress().optional(),
  healthzBindAddress: bindAddress().optional(),
  metricsBindAddress: bindAddress().optional(),
  bindAddressHardFail: bool().default(false),
  enableProfiling: bool().default(false),
  showHiddenMetricsForVersion: textLike('a release such as "1.36"', /^\d+\.\d+$/).default(''),
  mode: oneOf(['', 'ipvs', 'iptables', 'nftables']).default(''),
  iptables: section({
    masqueradeBit: integer(0, 31).default(14),
    masqueradeAll: bool().default(false),
    localhostNodePorts: bool().default(true),
    syncPeriod: duration('positive').default(30_000),
    minSyncPeriod: duration('not negative').default(1_000),
  }),
  ipvs: section({
    syncPeriod: duration('positive').default(30_000),
    minSyncPeriod: duration('not negative').default(0),
    scheduler: textLike('the name of an IPVS scheduler such as "rr"', /^[a-z0-9_-]{1,15}$/).default(''),
    excludeCIDRs: list(cidr()).default([]),
    strictARP: bool().default(false),
    tcpTimeout: duration('not negative').default(0),
    tcpFinTimeout: duration('not negative').default(0),
    udpTimeout: duration('not negative').default(0),
  }),
  nftables: section({
    masqueradeBit: integer().default(14),
    masqueradeAll: bool().default(false),
    syncPeriod: duration().default(30_000),
    minSyncPeriod: duration().default(1_000),
  }),
  winkernel: section({
    networkName: text().default(''),
    sourceVip: text().default(''),
    enableDSR: bool().default(false),
    rootHnsEndpointName: text().default(''),
    forwardHealthCheckVip: bool().default(false),
  }),
  windowsRunAsService: bool().default(false),
  detectLocalMode: oneOf(['', 'ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix']).default(''),
  detectLocal: section({
    bridgeInterface: interfaceName().default(''),
    interfaceNamePrefix: interfaceName().default(''),
  }),
  clusterCIDR: text().default(''),
  nodePortAddresses: list(field('a CIDR, "primary", "localhost" or "all"', parseNodePortAddress)).default([]),
  oomScoreAdj: integer(-1000, 1000).default(-999),
  conntrack: section({
    maxPerCore: integer(0).default(32_768),
    min: integer(0).default(131_072),
    tcpEstablishedTimeout: duration('not negative').default(86_400_000),
    tcpCloseWaitTimeout: duration('not negative').default(3_600_000),
    tcpBeLiberal: bool().default(false),
    udpTimeout: duration('not negative').default(0),
    udpStreamTimeout: duration('not negative').default(0),
  }),
  configSyncPeriod: duration('positive').default(900_000),
  portRange: field('a port range such as "1000-2000" or "1000+100", or empty', parsePortRange).default(''),
});

export type KubeProxyConfiguration = z.output<typeof kubeProxyConfiguration>;

/** Where the manual of `ipvsadm` ends the range of weights; the kernel itself takes more. */
const MAX_WEIGHT = 65_535;

/** More than any node needs, of which the kernel makes no difficulty. */
const MOST_ENTRIES = 2 ** 24;

/** The second document of a file: what kube-proxy has no field for. */
export const ipvsProxierConfiguration = section({
  apiVersion: oneOf([OWN_DOCUMENT.apiVersion]).default(OWN_DOCUMENT.apiVersion),
  kind: oneOf([OWN_DOCUMENT.kind]).default(OWN_DOCUMENT.kind),
  behaviour: oneOf(['documented', 'kube-proxy']).default('documented'),
  weightPolicy: oneOf(['uniform', 'byCondition']).default('uniform'),
  weights: section({
    ready: integer(1, MAX_WEIGHT).default(10),
    readyNotServing: integer(0, MAX_WEIGHT).default(5),
    notReady: integer(0, MAX_WEIGHT).default(0),
  }),
  schedulerFlags: list(oneOf(SCHEDULER_FLAGS)).optional(),
  unknownScheduler: oneOf(['stop', 'round-robin']).default('stop'),
  sloppyTCP: bool().optional(),
  sloppySCTP: bool().optional(),
  runEstimation: bool().optional(),
  connReuseMode: integer(0, 3).optional(),
  otherNodes: oneOf(['watched', 'ignored']).default('watched'),
  apiServers: list(textLike('a URL such as "https://192.0.2.1:6443"', /^https?:\/\/[^\s/]+\/?$/)).default([]),
  draining: section({
    limit: duration('not negative').default(15 * 60 * 1000),
    deletedServices: oneOf(['reset', 'finish', 'cut']).default('reset'),
  }),
  sets: section({
    maxEntries: integer(1024, MOST_ENTRIES).default(MAX_ENTRIES),
  }),
  queue: queueSection,
});

export type IpvsProxierConfiguration = z.output<typeof ipvsProxierConfiguration>;

/** A duration, or whole nanoseconds as a number. Source: kubernetes/component-base logs/api/v1 TimeOrMetaDuration */
function logFlushFrequency() {
  return field('a duration such as "5s", or a whole number of nanoseconds', (value) => {
    if (typeof value === 'string') return parseDuration(value);
    return typeof value === 'number' && Number.isInteger(value) ? value / 1e6 : undefined;
  });
}

function outputRouting() {
  const size = /^\d+(\.\d+)?([eE]\d+|[kKMGTPE]i?)?$/;
  return section({
    splitStream: bool().default(false),
    infoBufferSize: field('a size such as 0 or "64Ki"', (value) =>
      typeof value !== 'object' && size.test(String(value)) ? String(value) : undefined,
    ).default('0'),
  });
}
