import { expect } from 'chai';
import { DEFAULTS } from './config-fixture.ts';
import { loadConfig } from './load.ts';

/** As `kubeadm init` writes it into the ConfigMap kube-proxy for a cluster in ipvs mode. */
const KUBEADM = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection:
  acceptContentTypes: ""
  burst: 0
  contentType: ""
  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
  qps: 0
clusterCIDR: 10.244.0.0/16,fd00:10:244::/56
configSyncPeriod: 0s
conntrack:
  maxPerCore: null
  min: null
  tcpBeLiberal: false
  tcpCloseWaitTimeout: null
  tcpEstablishedTimeout: null
  udpStreamTimeout: 0s
  udpTimeout: 0s
detectLocal:
  bridgeInterface: ""
  interfaceNamePrefix: ""
detectLocalMode: ""
enableProfiling: false
healthzBindAddress: ""
hostnameOverride: ""
iptables:
  localhostNodePorts: null
  masqueradeAll: false
  masqueradeBit: null
  minSyncPeriod: 0s
  syncPeriod: 0s
ipvs:
  excludeCIDRs: null
  minSyncPeriod: 0s
  scheduler: ""
  strictARP: true
  syncPeriod: 0s
  tcpFinTimeout: 0s
  tcpTimeout: 0s
  udpTimeout: 0s
kind: KubeProxyConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
metricsBindAddress: ""
mode: ipvs
nftables:
  masqueradeAll: false
  masqueradeBit: null
  minSyncPeriod: 0s
  syncPeriod: 0s
nodePortAddresses: null
oomScoreAdj: null
portRange: ""
showHiddenMetricsForVersion: ""
winkernel:
  enableDSR: false
  forwardHealthCheckVip: false
  networkName: ""
  rootHnsEndpointName: ""
  sourceVip: ""
`;

/** kind's: as kubeadm's, but the host's conntrack limits stay as they are. */
const KIND = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: ipvs
iptables:
  minSyncPeriod: 1s
conntrack:
  maxPerCore: 0
  tcpEstablishedTimeout: 0s
  tcpCloseWaitTimeout: 0s
`;

/** Of a release of 2018, with fields that are gone since. */
const OLD = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
bindAddress: 0.0.0.0
clientConnection: {acceptContentTypes: "", burst: 10, contentType: application/vnd.kubernetes.protobuf, kubeconfig: /k, qps: 5}
configSyncPeriod: 15m0s
conntrack: {max: null, maxPerCore: 32768, min: 131072, tcpCloseWaitTimeout: 1h0m0s, tcpEstablishedTimeout: 24h0m0s}
healthzBindAddress: 0.0.0.0:10256
ipvs: {excludeCIDRs: null, minSyncPeriod: 5s, scheduler: wrr, syncPeriod: 30s}
metricsBindAddress: 127.0.0.1:10249
mode: ipvs
nodePortAddresses: null
oomScoreAdj: -999
portRange: ""
resourceContainer: /kube-proxy
udpIdleTimeout: 250ms
`;

describe('config/kube-proxy-files', () => {
  const cases: { name: string; text: string; flags: Record<string, unknown>; expected: object }[] = [
    {
      name: 'the file of kubeadm, with the flags of its DaemonSet',
      text: KUBEADM,
      flags: { config: '/var/lib/kube-proxy/config.conf', 'hostname-override': 'worker-1' },
      expected: {
        clientConnection: { ...DEFAULTS.clientConnection, kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
        clusterCIDRs: ['10.244.0.0/16', 'fd00:10:244::/56'],
        hostnameOverride: 'worker-1',
        ipvs: { ...DEFAULTS.ipvs, strictARP: true },
      },
    },
    {
      name: 'the file of kind',
      text: KIND,
      flags: {},
      expected: {
        conntrack: { ...DEFAULTS.conntrack, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
      },
    },
    {
      name: 'a file of an old release',
      text: OLD,
      flags: { v: '2' },
      expected: {
        clientConnection: { ...DEFAULTS.clientConnection, kubeconfig: '/k' },
        ipvs: { ...DEFAULTS.ipvs, scheduler: 'wrr' },
        logging: { format: 'text', verbosity: 2 },
        minSyncPeriodMs: 5_000,
        notices: [
          'field udpIdleTimeout was removed from kube-proxy and has no effect',
          'field resourceContainer was removed from kube-proxy and has no effect',
        ],
      },
    },
  ];
  for (const { name, text, flags, expected } of cases) {
    it(`accepts ${name}`, () =>
      expect(loadConfig({ file: { name: 'config.conf', text }, flags })).to.deep.equal({
        ok: true,
        value: { ...DEFAULTS, notices: [], ...expected },
      }));
  }

  it('accepts the arguments that k3s gives', () => {
    const flags = {
      'cluster-cidr': '10.42.0.0/16',
      'conntrack-max-per-core': '0',
      'conntrack-tcp-timeout-close-wait': '0s',
      'conntrack-tcp-timeout-established': '0s',
      'healthz-bind-address': '127.0.0.1',
      'hostname-override': 'k3s-1',
      kubeconfig: '/var/lib/rancher/k3s/agent/kubeproxy.kubeconfig',
      'proxy-mode': 'ipvs',
    };
    expect(loadConfig({ flags })).to.deep.equal({
      ok: true,
      value: {
        ...DEFAULTS,
        clientConnection: {
          ...DEFAULTS.clientConnection,
          kubeconfig: '/var/lib/rancher/k3s/agent/kubeproxy.kubeconfig',
        },
        clusterCIDRs: ['10.42.0.0/16'],
        conntrack: { ...DEFAULTS.conntrack, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
        healthzBindAddress: { address: '127.0.0.1', port: 10256 },
        hostnameOverride: 'k3s-1',
        minSyncPeriodMs: 1_000,
        notices: [],
      },
    });
  });
});
