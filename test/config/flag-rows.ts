import type { ProxyConfig } from '../../src/config/proxy-config.ts';

/** A flag that stands for a field: a text of the command line, and what the field is then. */
export interface FieldFlag {
  readonly flag: string;
  readonly byDefault: unknown;
  readonly text: string;
  readonly effective: unknown;
  /** A text that is refused; absent where every text is taken. */
  readonly invalid: string | undefined;
}

/** Defaults are those without a file. */
export const FIELD_FLAGS: readonly FieldFlag[] = [
  row('hostname-override', '', ' Node-A ', 'node-a', ' '),
  row('behaviour', 'documented', 'kube-proxy', 'kube-proxy', 'other'),
  row('ipvs-sync-period', '30s', '1m', '1m0s', '0s'),
  row('ipvs-min-sync-period', '1s', '0', '0s', '31s'),
  row('ipvs-scheduler', 'rr', 'wlc', 'wlc', 'W L C'),
  row('ipvs-exclude-cidrs', [], '10.0.0.0/8,fd00::/8', ['10.0.0.0/8', 'fd00::/8'], '10.0.0.0'),
  row('ipvs-strict-arp', false, 'true', true, 'maybe'),
  row('ipvs-tcp-timeout', '0s', '15m', '15m0s', '-1s'),
  row('ipvs-tcpfin-timeout', '0s', '2s', '2s', '2'),
  row('ipvs-udp-timeout', '0s', '5m', '5m0s', '-1s'),
  row('feature-gates', {}, 'AllBeta=true,AllAlpha=false', { AllBeta: true, AllAlpha: false }, 'AllBeta=x'),
  row('kubeconfig', '', '/k', '/k'),
  row('kube-api-content-type', 'application/vnd.kubernetes.protobuf', 'application/json', 'application/json'),
  row('kube-api-qps', 5, '0.5', 0.5, 'many'),
  row('kube-api-burst', 10, '20', 20, '-1'),
  row('bind-address', '0.0.0.0', '192.168.0.10', '192.168.0.10', 'node-a'),
  row('healthz-bind-address', '0.0.0.0:10256', '', '', '127.0.0.1:0'),
  row('metrics-bind-address', '127.0.0.1:10249', '0.0.0.0', '0.0.0.0:10249', 'localhost:1'),
  row('bind-address-hard-fail', false, 'true', true, 'maybe'),
  row('profiling', false, 'true', true, 'maybe'),
  row('show-hidden-metrics-for-version', '', '1.36', '1.36', 'v1'),
  row('proxy-mode', 'ipvs', 'iptables', 'ipvs', 'userspace'),
  row('masquerade-all', false, 'true', true, 'maybe'),
  row('iptables-masquerade-bit', 14, '15', 15, '32'),
  row('iptables-localhost-nodeports', true, 'false', false, 'maybe'),
  row('iptables-sync-period', '30s', '5s', '5s', '0s'),
  row('iptables-min-sync-period', '1s', '0', '0s', '-1s'),
  row('detect-local-mode', 'ClusterCIDR', 'NodeCIDR', 'NodeCIDR', 'Magic'),
  row('pod-bridge-interface', '', 'cni0', 'cni0', 'a name that is too long'),
  row('pod-interface-name-prefix', '', 'veth', 'veth', 'a/b'),
  row('cluster-cidr', '', '10.0.0.0/8,fd00::/8', '10.0.0.0/8,fd00::/8', '10.0.0.0'),
  row('nodeport-addresses', [], 'primary,10.0.0.0/8', ['primary', '10.0.0.0/8'], 'secondary'),
  row('oom-score-adj', -999, '0', 0, '1001'),
  row('conntrack-max-per-core', 32_768, '0', 0, '-1'),
  row('conntrack-min', 131_072, '0', 0, '-1'),
  row('conntrack-tcp-timeout-established', '24h0m0s', '0s', '0s', '-1s'),
  row('conntrack-tcp-timeout-close-wait', '1h0m0s', '0s', '0s', '-1s'),
  row('conntrack-tcp-be-liberal', false, 'true', true, 'maybe'),
  row('conntrack-udp-timeout', '0s', '30s', '30s', '-1s'),
  row('conntrack-udp-timeout-stream', '0s', '3m', '3m0s', '-1s'),
  row('config-sync-period', '15m0s', '1m', '1m0s', '0s'),
  row('proxy-port-range', '', '1-2', '1-2', '2-1'),
  row('v', 0, '4', 4, '-1'),
  row('logging-format', undefined, 'json', 'json', 'xml'),
  row('log-flush-frequency', '5s', '1s', '1s', 'soon'),
  row('log-text-split-stream', false, 'true', true, 'maybe'),
  row('log-text-info-buffer-size', '0', '64Ki', '64Ki', 'big'),
  row('log-json-split-stream', false, 'true', true, 'maybe'),
  row('log-json-info-buffer-size', '0', '64Ki', '64Ki', 'big'),
];

/** Flags that no field of a file stands for: what they change, or `none`. */
export const FLAGS_WITHOUT_FIELD: readonly {
  readonly flag: string;
  readonly text: string;
  readonly effect: keyof ProxyConfig | 'none';
}[] = [
  { flag: 'master', text: 'https://a', effect: 'master' },
  { flag: 'healthz-port', text: '0', effect: 'healthzBindAddress' },
  { flag: 'metrics-port', text: '99', effect: 'metricsBindAddress' },
  ...['config', 'write-config-to', 'vmodule', 'log-backtrace-at', 'log-dir', 'log-file'].map(
    (flag) => ({ flag, text: 'x', effect: 'none' }) as const,
  ),
  ...['cleanup', 'init-only', 'version', 'add-dir-header', 'alsologtostderr', 'logtostderr', 'one-output'].map(
    (flag) => ({ flag, text: 'true', effect: 'none' }) as const,
  ),
  ...['skip-headers', 'skip-log-headers'].map((flag) => ({ flag, text: 'true', effect: 'none' }) as const),
  ...['log-file-max-size', 'stderrthreshold'].map((flag) => ({ flag, text: '5', effect: 'none' }) as const),
];

function row(flag: string, byDefault: unknown, text: string, effective: unknown, invalid?: string): FieldFlag {
  return { flag, byDefault, text, effective, invalid };
}
