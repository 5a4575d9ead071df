import { formatDuration } from '../config/duration.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import { formatAddressPort } from '../net/ip-address.ts';

/** The configuration in force as one JSON object: kube-proxy's part under its group, our own under ours. */
export function configzBody(config: ProxyConfig): string {
  return JSON.stringify({ 'kubeproxy.config.k8s.io': kubeProxyPart(config), 'ipvs-proxier.dev': ownPart(config) });
}

/** What applies to the ipvs mode, in the form of kube-proxy's configuration file. */
function kubeProxyPart(config: ProxyConfig) {
  const { clientConnection, conntrack, detectLocal, healthzBindAddress, ipvs, metricsBindAddress } = config;
  const address = (bind: ProxyConfig['healthzBindAddress']) => (bind ? formatAddressPort(bind.address, bind.port) : '');
  return {
    kind: 'KubeProxyConfiguration',
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    featureGates: config.featureGates,
    clientConnection: { ...clientConnection, kubeconfig: clientConnection.kubeconfig ?? '' },
    logging: config.logging,
    hostnameOverride: config.hostnameOverride ?? '',
    bindAddress: config.bindAddress,
    healthzBindAddress: address(healthzBindAddress),
    metricsBindAddress: address(metricsBindAddress),
    bindAddressHardFail: config.bindAddressHardFail,
    enableProfiling: config.enableProfiling,
    showHiddenMetricsForVersion: config.showHiddenMetricsForVersion,
    mode: 'ipvs',
    iptables: config.iptables,
    ipvs: {
      syncPeriod: formatDuration(config.syncPeriodMs),
      minSyncPeriod: formatDuration(config.minSyncPeriodMs),
      scheduler: ipvs.scheduler,
      excludeCIDRs: ipvs.excludeCIDRs,
      strictARP: ipvs.strictARP,
      tcpTimeout: formatDuration(ipvs.tcpTimeoutMs),
      tcpFinTimeout: formatDuration(ipvs.tcpFinTimeoutMs),
      udpTimeout: formatDuration(ipvs.udpTimeoutMs),
    },
    detectLocalMode: detectLocal.mode,
    detectLocal: {
      bridgeInterface: detectLocal.mode === 'BridgeInterface' ? detectLocal.bridgeInterface : '',
      interfaceNamePrefix: detectLocal.mode === 'InterfaceNamePrefix' ? detectLocal.interfaceNamePrefix : '',
    },
    clusterCIDR: config.clusterCIDRs.join(','),
    nodePortAddresses: config.nodePortAddresses,
    oomScoreAdj: config.oomScoreAdj,
    conntrack: {
      maxPerCore: conntrack.maxPerCore,
      min: conntrack.min,
      tcpEstablishedTimeout: formatDuration(conntrack.tcpEstablishedTimeoutMs),
      tcpCloseWaitTimeout: formatDuration(conntrack.tcpCloseWaitTimeoutMs),
      tcpBeLiberal: conntrack.tcpBeLiberal,
      udpTimeout: formatDuration(conntrack.udpTimeoutMs),
      udpStreamTimeout: formatDuration(conntrack.udpStreamTimeoutMs),
    },
    configSyncPeriod: formatDuration(config.configSyncPeriodMs),
  };
}

/** The queue's times are in milliseconds. */
function ownPart({ behaviour, weightPolicy, weights, otherNodes, queue, ...config }: ProxyConfig) {
  const { schedulerFlags, unknownScheduler, sloppyTCP, sloppySCTP, runEstimation, connReuseMode } = config;
  const switches = { sloppyTCP, sloppySCTP, runEstimation, connReuseMode };
  return { behaviour, weightPolicy, weights, schedulerFlags, unknownScheduler, ...switches, otherNodes, queue };
}
