import { expect } from 'chai';
import { DEFAULTS } from './config-fixture.ts';
import { loadConfig } from './load.ts';

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
      name: 'a file of an old release',
      text: OLD,
      flags: { v: '2' },
      expected: {
        clientConnection: { ...DEFAULTS.clientConnection, kubeconfig: '/k' },
        ipvs: { ...DEFAULTS.ipvs, scheduler: 'wrr' },
        logging: { format: undefined, verbosity: 2 },
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
});
