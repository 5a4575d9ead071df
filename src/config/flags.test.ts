import { expect } from 'chai';
import { fromFlags } from './config-fixture.ts';
import { parseDuration } from './duration.ts';
import { fieldNames } from './field-names.ts';
import { FLAGS } from './flags.ts';
import { queueSection } from './queue-section.ts';
import { ipvsProxierConfiguration, kubeProxyConfiguration } from './schema.ts';

/** Fields that a file alone can set, ours last. Source: kubernetes/kubernetes cmd/kube-proxy/app/options.go */
const WITHOUT_FLAG = [
  'apiVersion',
  'kind',
  'clientConnection.acceptContentTypes',
  'logging.vmodule',
  'nftables.masqueradeBit',
  'nftables.masqueradeAll',
  'nftables.syncPeriod',
  'nftables.minSyncPeriod',
  'winkernel.networkName',
  'winkernel.sourceVip',
  'winkernel.enableDSR',
  'winkernel.rootHnsEndpointName',
  'winkernel.forwardHealthCheckVip',
  'windowsRunAsService',
  ...['weightPolicy', 'weights.ready', 'weights.readyNotServing', 'weights.notReady'],
  ...[
    'schedulerFlags',
    'unknownScheduler',
    'sloppyTCP',
    'sloppySCTP',
    'runEstimation',
    'connReuseMode',
    'otherNodes',
    'apiServers',
  ],
  ...['draining.limit', 'draining.deletedServices', 'sets.maxEntries'],
  ...fieldNames(queueSection, 'queue.'),
];

describe('config/flags', () => {
  it('has each name once, in lower case with dashes', () => {
    const names = FLAGS.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
    for (const name of names) expect(name).to.match(/^[a-z]+(-[a-z]+)*$/);
  });

  it('stands for every field of both documents once, but for those that only a file has', () => {
    const fields = [...fieldNames(kubeProxyConfiguration), ...fieldNames(ipvsProxierConfiguration)];
    const covered = FLAGS.flatMap(({ field }) => field ?? []);
    expect([...covered, ...WITHOUT_FLAG].sort()).to.deep.equal([...new Set(fields)].sort());
  });

  it('shows the defaults that are in force', () => {
    for (const flag of FLAGS) {
      if (flag.field === undefined || flag.default === '') continue;
      const { notices, ...config } = fromFlags({ [flag.name]: flag.default });
      const { notices: _, ...defaults } = fromFlags({});
      expect(config, flag.name).to.deep.equal(defaults);
    }
  });

  it('shows durations that can be read', () => {
    for (const flag of FLAGS) {
      if (flag.type === 'duration') expect(parseDuration(flag.default), flag.name).not.to.equal(undefined);
    }
  });

  it('describes every flag in one sentence or more', () => {
    for (const flag of FLAGS) expect(flag.description, flag.name).to.match(/^[A-Z].*\.$/);
  });
});
