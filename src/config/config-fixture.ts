import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts';
import type { ConfigError } from './config-error.ts';
import type { GivenFlags } from './flag-values.ts';
import { loadConfig } from './load.ts';
import type { ProxyConfig } from './proxy-config.ts';

/** For tests: the first lines of both documents, the second with its separator. */
export const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
export const OWN = '---\napiVersion: ipvs-proxier.dev/v1alpha1\nkind: IPVSProxierConfiguration\n';

/** What a file that sets nothing must give. */
export const DEFAULTS = {
  behaviour: 'documented',
  weightPolicy: 'uniform',
  weights: { ready: 10, readyNotServing: 5, notReady: 0 },
  schedulerFlags: undefined,
  unknownScheduler: 'stop',
  sloppyTCP: undefined,
  sloppySCTP: undefined,
  runEstimation: undefined,
  connReuseMode: undefined,
  otherNodes: 'watched',
  apiServers: [],
  draining: { limitMs: 900_000, ofDeletedServices: false, closingMs: 30_000 },
  sets: { maxEntries: 65_536 },
  queue: DEFAULT_QUEUE_SETTINGS,
  featureGates: {},
  clientConnection: {
    kubeconfig: undefined,
    acceptContentTypes: '',
    contentType: 'application/vnd.kubernetes.protobuf',
    qps: 5,
    burst: 10,
  },
  master: undefined,
  logging: { format: undefined, verbosity: 0 },
  hostnameOverride: undefined,
  bindAddress: '0.0.0.0',
  healthzBindAddress: { address: '0.0.0.0', port: 10256 },
  metricsBindAddress: { address: '127.0.0.1', port: 10249 },
  bindAddressHardFail: false,
  enableProfiling: false,
  showHiddenMetricsForVersion: '',
  syncPeriodMs: 30_000,
  minSyncPeriodMs: 0,
  iptables: { masqueradeBit: 14, masqueradeAll: false },
  ipvs: { scheduler: 'rr', excludeCIDRs: [], strictARP: false, tcpTimeoutMs: 0, tcpFinTimeoutMs: 0, udpTimeoutMs: 0 },
  detectLocal: { mode: 'ClusterCIDR' },
  clusterCIDRs: [],
  nodePortAddresses: [],
  oomScoreAdj: -999,
  conntrack: {
    maxPerCore: 32_768,
    min: 131_072,
    tcpEstablishedTimeoutMs: 86_400_000,
    tcpCloseWaitTimeoutMs: 3_600_000,
    tcpBeLiberal: false,
    udpTimeoutMs: 0,
    udpStreamTimeoutMs: 0,
  },
  configSyncPeriodMs: 900_000,
  ignoredFlags: [],
  notices: ['mode is empty; this program runs ipvs anyway'],
} as const;

/** The configuration of a file with these lines after its head; throws when it is refused. */
export function fromFile(text: string, flags: GivenFlags = {}): ProxyConfig {
  return accepted(loadConfig({ file: { name: 'proxy.yaml', text: HEAD + text }, flags }));
}

export function fromFlags(flags: GivenFlags): ProxyConfig {
  return accepted(loadConfig({ flags }));
}

/** The errors of such a file; empty when it is accepted. */
export function errorsOf(text: string, flags: GivenFlags = {}): readonly ConfigError[] {
  const loaded = loadConfig({ file: { name: 'proxy.yaml', text: HEAD + text }, flags });
  return loaded.ok ? [] : loaded.error;
}

function accepted(loaded: ReturnType<typeof loadConfig>): ProxyConfig {
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error, null, 2));
  return loaded.value;
}
