import type { ConntrackLimits } from '../kernel/sysctl/conntrack.ts';
import { familyOf, type IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import { type BindAddress, defaultListenAddress, type PartialBindAddress } from './bind-address.ts';
import { DEFAULT_SCHEDULER, splitClusterCidr } from './check-together.ts';
import type { DetectLocal, IpvsConfig, ProxyConfig } from './proxy-config.ts';
import { resolveQueue } from './resolve-queue.ts';
import type { IpvsProxierConfiguration, KubeProxyConfiguration } from './schema.ts';

/** What a configuration needs besides its two documents. */
export interface ResolveContext {
  readonly master: string | undefined;
  /** Ports for addresses given without one; 0 switches the server off. */
  readonly healthzPort: number;
  readonly metricsPort: number;
  readonly ignoredFlags: readonly string[];
  readonly notices: readonly string[];
}

/** Turns checked documents into the configuration in force: names with units, derived defaults, unions for alternatives. */
export function resolveConfig(
  file: KubeProxyConfiguration,
  own: IpvsProxierConfiguration,
  context: ResolveContext,
): ProxyConfig {
  const bindAddress = file.bindAddress ?? ('0.0.0.0' as IpAddress);
  return deepFreeze({
    behaviour: own.behaviour,
    weightPolicy: own.weightPolicy,
    weights: own.weights,
    schedulerFlags: own.schedulerFlags,
    unknownScheduler: own.unknownScheduler,
    sloppyTCP: own.sloppyTCP,
    sloppySCTP: own.sloppySCTP,
    runEstimation: own.runEstimation,
    connReuseMode: own.connReuseMode,
    otherNodes: own.behaviour === 'documented' ? own.otherNodes : 'ignored',
    apiServers: own.apiServers,
    draining: { limitMs: own.draining.limit, ofDeletedServices: own.draining.deletedServices === 'finish' },
    sets: own.sets,
    queue: resolveQueue(own.queue),
    featureGates: file.featureGates,
    clientConnection: { ...file.clientConnection, kubeconfig: file.clientConnection.kubeconfig || undefined },
    master: context.master || undefined,
    logging: { format: file.logging.format, verbosity: file.logging.verbosity },
    hostnameOverride: file.hostnameOverride.trim().toLowerCase() || undefined,
    bindAddress,
    healthzBindAddress: listenOn('healthz', file.healthzBindAddress, bindAddress, context.healthzPort),
    metricsBindAddress: listenOn('metrics', file.metricsBindAddress, bindAddress, context.metricsPort),
    bindAddressHardFail: file.bindAddressHardFail,
    enableProfiling: file.enableProfiling,
    showHiddenMetricsForVersion: file.showHiddenMetricsForVersion,
    syncPeriodMs: file.ipvs.syncPeriod,
    minSyncPeriodMs: file.ipvs.minSyncPeriod,
    iptables: { masqueradeBit: file.iptables.masqueradeBit, masqueradeAll: file.iptables.masqueradeAll },
    ipvs: resolveIpvs(file.ipvs),
    detectLocal: resolveDetectLocal(file),
    clusterCIDRs: splitClusterCidr(file.clusterCIDR).filter((cidr) => cidr !== undefined),
    nodePortAddresses: [...new Set(file.nodePortAddresses.flat())],
    oomScoreAdj: file.oomScoreAdj,
    conntrack: resolveConntrack(file.conntrack),
    configSyncPeriodMs: file.configSyncPeriod,
    ignoredFlags: context.ignoredFlags,
    notices: context.notices,
  });
}

function listenOn(
  server: 'healthz' | 'metrics',
  given: PartialBindAddress | 'off' | undefined,
  bindAddress: IpAddress,
  defaultPort: number,
): BindAddress | undefined {
  if (given === 'off' || defaultPort === 0) return undefined;
  const address = given?.address ?? defaultListenAddress(server, familyOf(bindAddress));
  return { address, port: given?.port ?? (defaultPort as Port) };
}

function resolveIpvs(ipvs: KubeProxyConfiguration['ipvs']): IpvsConfig {
  return {
    scheduler: ipvs.scheduler || DEFAULT_SCHEDULER,
    excludeCIDRs: ipvs.excludeCIDRs,
    strictARP: ipvs.strictARP,
    tcpTimeoutMs: ipvs.tcpTimeout,
    tcpFinTimeoutMs: ipvs.tcpFinTimeout,
    udpTimeoutMs: ipvs.udpTimeout,
  };
}

function resolveDetectLocal({ detectLocalMode: mode, detectLocal }: KubeProxyConfiguration): DetectLocal {
  if (mode === 'BridgeInterface') return { mode, bridgeInterface: detectLocal.bridgeInterface };
  if (mode === 'InterfaceNamePrefix') return { mode, interfaceNamePrefix: detectLocal.interfaceNamePrefix };
  return { mode: mode || 'ClusterCIDR' };
}

function resolveConntrack(conntrack: KubeProxyConfiguration['conntrack']): ConntrackLimits {
  return {
    maxPerCore: conntrack.maxPerCore,
    min: conntrack.min,
    tcpEstablishedTimeoutMs: conntrack.tcpEstablishedTimeout,
    tcpCloseWaitTimeoutMs: conntrack.tcpCloseWaitTimeout,
    tcpBeLiberal: conntrack.tcpBeLiberal,
    udpTimeoutMs: conntrack.udpTimeout,
    udpStreamTimeoutMs: conntrack.udpStreamTimeout,
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
