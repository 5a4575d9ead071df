import { expect } from 'chai';
import { DEFAULTS, fromFile } from './config-fixture.ts';
import { fieldNames } from './field-names.ts';
import { kubeProxyConfiguration } from './schema.ts';
import { withoutZeroValues, ZERO_MEANS_DEFAULT } from './zero-values.ts';

describe('config/zero-values', () => {
  it('lists only fields that exist', () =>
    expect(fieldNames(kubeProxyConfiguration)).to.include.members([...ZERO_MEANS_DEFAULT]));

  it('drops zero, empty and zero durations of those fields, and of no others', () => {
    const zeros = {
      clientConnection: { qps: 0, burst: 5 },
      bindAddress: '',
      ipvs: { syncPeriod: '0s', minSyncPeriod: '0s' },
      oomScoreAdj: 0,
    };
    expect(withoutZeroValues(zeros)).to.deep.equal({
      clientConnection: { burst: 5 },
      ipvs: { minSyncPeriod: '0s' },
      oomScoreAdj: 0,
    });
  });

  it('so gives the defaults for a file full of zeros', () =>
    expect(
      fromFile(`
clientConnection: {kubeconfig: "", acceptContentTypes: "", contentType: "", qps: 0, burst: 0}
logging: {format: "", flushFrequency: 0, verbosity: 0}
bindAddress: ""
healthzBindAddress: ""
metricsBindAddress: ""
iptables: {syncPeriod: 0s, minSyncPeriod: 0s}
ipvs: {syncPeriod: 0s, minSyncPeriod: 0s, scheduler: "", excludeCIDRs: [], tcpTimeout: 0s}
nftables: {syncPeriod: 0s, minSyncPeriod: 0s}
detectLocalMode: ""
clusterCIDR: ""
configSyncPeriod: 0s
portRange: ""
`),
    ).to.deep.equal(DEFAULTS));
});
