/** One field: its default, one value that is taken and one that is refused. */
export interface FieldRow {
  readonly field: string;
  /** As the effective configuration has it; `undefined` where it has none. */
  readonly byDefault: unknown;
  /** A value of a file, and what becomes of it where that is something else. */
  readonly valid: readonly [given: unknown, effective?: unknown];
  /** A value that is refused. */
  readonly invalid: unknown;
  /** Other fields that the valid value needs. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

/** Every field of the first document. */
export const KUBE_PROXY_ROWS: readonly FieldRow[] = [
  row('apiVersion', 'kubeproxy.config.k8s.io/v1alpha1', ['kubeproxy.config.k8s.io/v1alpha1'], 'v1'),
  row('kind', 'KubeProxyConfiguration', ['KubeProxyConfiguration'], 'Pod'),
  row('featureGates', {}, [{ AllBeta: true }], { AllBeta: 1 }),
  row('clientConnection.kubeconfig', '', ['/k'], 5),
  row('clientConnection.acceptContentTypes', '', ['application/json'], 5),
  row('clientConnection.contentType', 'application/vnd.kubernetes.protobuf', ['application/json'], 5),
  row('clientConnection.qps', 5, [-1.5], 'many'),
  row('clientConnection.burst', 10, [20], -1),
  row('logging.format', 'text', ['json'], 'xml'),
  row('logging.flushFrequency', '5s', [1_000_000_000, '1s'], 'soon'),
  row('logging.verbosity', 0, [4], -1),
  row('logging.vmodule', [], [[{ filePattern: 'a', verbosity: 2 }]], 'a=2'),
  row('logging.options.text.splitStream', false, [true], 'x'),
  row('logging.options.text.infoBufferSize', '0', ['64Ki'], 'big'),
  row('logging.options.json.splitStream', false, [true], 'x'),
  row('logging.options.json.infoBufferSize', '0', [5, '5'], 'big'),
  row('hostnameOverride', '', [' Node-A ', 'node-a'], ' '),
  row('bindAddress', '0.0.0.0', ['192.168.0.10'], 'node-a'),
  row('healthzBindAddress', '0.0.0.0:10256', ['127.0.0.1', '127.0.0.1:10256'], '127.0.0.1:0'),
  row('metricsBindAddress', '127.0.0.1:10249', ['[::]:1'], 'localhost:1'),
  row('bindAddressHardFail', false, [true], 'x'),
  row('enableProfiling', false, [true], 'x'),
  row('showHiddenMetricsForVersion', '', ['1.36'], 'v1'),
  row('mode', 'ipvs', ['iptables', 'ipvs'], 'userspace'),
  row('iptables.masqueradeBit', 14, [0], 32),
  row('iptables.masqueradeAll', false, [true], 'x'),
  row('iptables.localhostNodePorts', true, [false], 'x'),
  row('iptables.syncPeriod', '30s', ['5s'], '-1s'),
  row('iptables.minSyncPeriod', '1s', ['5s'], '-1s'),
  row('ipvs.syncPeriod', '30s', ['1m', '1m0s'], '30'),
  row('ipvs.minSyncPeriod', '0s', ['30s'], '31s'),
  row('ipvs.scheduler', 'rr', ['wlc'], 'W L C'),
  row('ipvs.excludeCIDRs', [], [['10.1.2.3/8'], ['10.0.0.0/8']], ['10.0.0.0']),
  row('ipvs.strictARP', false, [true], 'x'),
  row('ipvs.tcpTimeout', '0s', ['15m', '15m0s'], '-1s'),
  row('ipvs.tcpFinTimeout', '0s', ['2s'], 2),
  row('ipvs.udpTimeout', '0s', ['300s', '5m0s'], '-1s'),
  row('nftables.masqueradeBit', 14, [99], 'x'),
  row('nftables.masqueradeAll', false, [true], 'x'),
  row('nftables.syncPeriod', '30s', ['-5s'], 'x'),
  row('nftables.minSyncPeriod', '1s', ['5s'], 'x'),
  row('winkernel.networkName', '', ['a'], 5),
  row('winkernel.sourceVip', '', ['a'], 5),
  row('winkernel.enableDSR', false, [true], 'x'),
  row('winkernel.rootHnsEndpointName', '', ['a'], 5),
  row('winkernel.forwardHealthCheckVip', false, [true], 'x'),
  row('windowsRunAsService', false, [true], 'x'),
  row('detectLocalMode', 'ClusterCIDR', ['NodeCIDR'], 'Magic'),
  row('detectLocal.bridgeInterface', '', ['cni0'], 'a name that is too long', { detectLocalMode: 'BridgeInterface' }),
  row('detectLocal.interfaceNamePrefix', '', ['veth'], 'a/b', { detectLocalMode: 'InterfaceNamePrefix' }),
  row('clusterCIDR', '', ['10.0.0.0/8,fd00::/8'], '10.0.0.0/8,10.1.0.0/16'),
  row(
    'nodePortAddresses',
    [],
    [
      ['primary', 'localhost'],
      ['primary', '127.0.0.0/8', '::1/128'],
    ],
    ['secondary'],
  ),
  row('oomScoreAdj', -999, [0], 1001),
  row('conntrack.maxPerCore', 32_768, [0], -1),
  row('conntrack.min', 131_072, [0], -1),
  row('conntrack.tcpEstablishedTimeout', '24h0m0s', ['0s'], '-1s'),
  row('conntrack.tcpCloseWaitTimeout', '1h0m0s', ['0s'], '-1s'),
  row('conntrack.tcpBeLiberal', false, [true], 'x'),
  row('conntrack.udpTimeout', '0s', ['30s'], '-1s'),
  row('conntrack.udpStreamTimeout', '0s', ['3m', '3m0s'], '-1s'),
  row('configSyncPeriod', '15m0s', ['1m', '1m0s'], '-1s'),
  row('portRange', '', ['1-2'], '2-1'),
];

/** Every field of the second document. */
export const OWN_ROWS: readonly FieldRow[] = [
  row('apiVersion', 'ipvs-proxier.dev/v1alpha1', ['ipvs-proxier.dev/v1alpha1'], 'v1'),
  row('kind', 'IPVSProxierConfiguration', ['IPVSProxierConfiguration'], 'Pod'),
  row('behaviour', 'documented', ['kube-proxy'], 'other'),
  row('weightPolicy', 'uniform', ['byCondition'], 'other'),
  row('weights.ready', 10, [1], 0),
  row('weights.readyNotServing', 5, [0], 65_536),
  row('weights.notReady', 0, [65_535], -1),
  row('schedulerFlags', undefined, [['flag-1']], ['sh-port']),
  row('sloppyTCP', undefined, [false], 'x'),
  row('sloppySCTP', undefined, [true], 'x'),
  row('runEstimation', undefined, [false], 'x'),
  row('connReuseMode', undefined, [1], 4),
  row('apiServers', [], [['https://192.0.2.1:6443']], ['192.0.2.1']),
  row('otherNodes', 'watched', ['ignored'], 'other'),
  row('draining.limit', '15m0s', ['0', '0s'], '-1s'),
  row('draining.deletedServices', 'cut', ['finish'], 'keep'),
  row('queue.thresholds.criticalBelowReadyRatio', 0.3, [0], 1.1),
  row('queue.thresholds.highBelowReadyRatio', 0.7, [1], -0.1),
  row('queue.thresholds.criticalAboveMagnitude', 0.5, [1], 2),
  row('queue.thresholds.highAboveMagnitude', 0.2, [1], 2),
  row('queue.thresholds.normalAboveMagnitude', 0.05, [1], 2),
  row('queue.delays.critical', '0s', ['100ms'], '101ms'),
  row('queue.delays.high', '100ms', ['500ms'], '-1s'),
  row('queue.delays.normal', '500ms', ['2s'], '99ms'),
  row('queue.delays.low', '2s', ['1h', '1h0m0s'], '499ms'),
  row('queue.batchSize', 10, [1], 0),
  row('queue.batchWindow', '800ms', ['0s'], '-1s'),
  row('queue.retries.readiness.fast', '50ms', ['2s'], '0s'),
  row('queue.retries.readiness.fastTries', 5, [0], -1),
  row('queue.retries.readiness.slow', '2s', ['50ms'], '49ms'),
  row('queue.retries.update.base', '500ms', ['1s'], '0s'),
  row('queue.retries.update.max', '1m0s', ['2m', '2m0s'], '1ms'),
  row('queue.retries.minor.fast', '2s', ['1s'], '0s'),
  row('queue.retries.minor.fastTries', 3, [0], -1),
  row('queue.retries.minor.slow', '10s', ['1m', '1m0s'], '1s'),
  row('queue.retryJitter', 0.1, [0], 2),
  row('queue.passesPerSecond', 50, [0.5], 0),
  row('queue.passBurst', 100, [1], 0),
  row('queue.quarantineAfterFailures', 3, [1], 0),
];

function row(
  field: string,
  byDefault: unknown,
  valid: FieldRow['valid'],
  invalid: unknown,
  beside?: FieldRow['beside'],
): FieldRow {
  return { field, byDefault, valid, invalid, ...(beside ? { beside } : {}) };
}
