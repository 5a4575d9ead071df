import { expect } from 'chai';
import fc from 'fast-check';
import { HEAD, OWN } from './config-fixture.ts';
import { formatDuration } from './duration.ts';
import { changedFields, DURATION_FIELDS, unwritable, writeDocuments } from './effective-documents.ts';
import type { GivenFlags } from './flag-values.ts';
import { type EffectiveConfig, loadEffective } from './load.ts';

const RUNS = 300;
/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe('config/effective-documents', () => {
  function load(sources: Parameters<typeof loadEffective>[0]): EffectiveConfig {
    const loaded = loadEffective(sources);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
    return loaded.value;
  }
  const readBack = ({ documents }: EffectiveConfig) =>
    load({ file: { name: 'written', text: writeDocuments(documents) }, flags: {} });
  const inForce = ({ config }: EffectiveConfig) => ({ ...config, notices: [], ignoredFlags: [] });

  it(`read back gives the same configuration, and the same documents again; FC_SEED=${SEED}`, () =>
    fc.assert(
      fc.property(someFile(), (text) => {
        const given = load({ file: { name: 'given', text }, flags: {} });
        const again = readBack(given);
        expect(inForce(again)).to.deep.equal(inForce(given));
        expect(again.documents).to.deep.equal(given.documents);
        expect(changedFields(given.documents, again.documents)).to.deep.equal([]);
        expect(unwritable(given.documents, given.config)).to.deep.equal([]);
      }),
      { numRuns: RUNS, seed: SEED },
    ));

  it(`of flags read back gives the same configuration, but for what is named; FC_SEED=${SEED}`, () =>
    fc.assert(
      fc.property(someFlags(), (flags) => {
        const given = load({ flags });
        const again = readBack(given);
        const lost = unwritable(given.documents, given.config).map((sentence) => sentence.split(':')[0]);
        const changed = changedFields(given.documents, again.documents).map(({ field }) => field);
        expect(
          changed.every((field) => lost.includes(field)),
          changed.join(),
        ).to.equal(true);
        if (lost.length === 0) expect(inForce(again)).to.deep.equal(inForce(given));
      }),
      { numRuns: RUNS, seed: SEED },
    ));

  it('writes every duration with its unit', () => {
    const { documents } = load({ flags: {} });
    const text = JSON.stringify(documents);
    expect(text).to.not.match(/"(?:\w*[pP]eriod|\w*[tT]imeout|flushFrequency|batchWindow|fast|slow|base|max)":\d/);
    expect(DURATION_FIELDS).to.have.lengthOf(new Set(DURATION_FIELDS).size);
  });

  it('writes IPv6 addresses with a port in brackets', () => {
    const { documents } = load({ flags: { 'bind-address': '::', 'metrics-bind-address': 'fd00::1' } });
    expect(documents.kubeProxy).to.include({ healthzBindAddress: '[::]:10256', metricsBindAddress: '[fd00::1]:10249' });
  });
});

const DAY_MS = 86_400_000;
const ms = (min: number, max = 10 ** 9) => fc.integer({ min, max }).map(formatDuration);
const count = (min: number, max = 2 ** 31 - 1) => fc.integer({ min, max });
const word = () => fc.stringMatching(/^[a-z]{1,8}$/);
const anyAddress = () =>
  fc.oneof(
    fc.ipV4(),
    fc.ipV6().filter((text) => !text.includes('.')),
  );
const cidr = () =>
  fc.oneof(
    fc.tuple(fc.ipV4(), count(0, 32)).map(([address, length]) => `${address}/${length}`),
    count(0, 128).map((length) => `fd00::/${length}`),
  );
const listen = () =>
  fc.oneof(
    fc.tuple(fc.ipV4(), count(1, 65_535)).map(([address, port]) => `${address}:${port}`),
    count(1, 65_535).map((port) => `[fd00::1]:${port}`),
    fc.constantFrom('127.0.0.1', '::1'),
  );

/** A record in which any key may be missing. */
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(shape: T) => fc.record(shape, { requiredKeys: [] });

/** A valid file with values in any of its fields. */
function someFile(): fc.Arbitrary<string> {
  const periods = ms(1_000);
  const kubeProxy = some({
    featureGates: fc.dictionary(word(), fc.boolean(), { maxKeys: 3 }),
    clientConnection: some({
      kubeconfig: word(),
      acceptContentTypes: word(),
      contentType: word(),
      qps: fc.double({ min: -10, max: 1000, noNaN: true }),
      burst: count(0),
    }),
    logging: some({
      format: fc.constantFrom('text', 'json'),
      flushFrequency: fc.oneof(ms(0), count(0)),
      verbosity: count(0, 10),
      vmodule: fc.array(some({ filePattern: word(), verbosity: count(0, 9) }), { maxLength: 2 }),
      options: some({ text: some({ splitStream: fc.boolean(), infoBufferSize: fc.constantFrom('0', '64Ki', 5) }) }),
    }),
    hostnameOverride: fc.constantFrom('node-a', ' Node-B ', ''),
    bindAddress: anyAddress(),
    healthzBindAddress: listen(),
    metricsBindAddress: listen(),
    bindAddressHardFail: fc.boolean(),
    enableProfiling: fc.boolean(),
    showHiddenMetricsForVersion: fc.constantFrom('', '1.36'),
    mode: fc.constantFrom('', 'ipvs', 'iptables', 'nftables'),
    iptables: some({
      masqueradeBit: count(0, 31),
      masqueradeAll: fc.boolean(),
      localhostNodePorts: fc.boolean(),
      syncPeriod: periods,
      minSyncPeriod: ms(0),
    }),
    ipvs: some({
      syncPeriod: ms(40_000),
      minSyncPeriod: count(0, 30_000).map(formatDuration),
      scheduler: fc.constantFrom('', 'rr', 'wlc'),
      excludeCIDRs: fc.array(cidr(), { maxLength: 3 }),
      strictARP: fc.boolean(),
      tcpTimeout: ms(0),
      tcpFinTimeout: ms(0),
      udpTimeout: ms(0),
    }),
    nftables: some({
      masqueradeBit: count(0, 99),
      masqueradeAll: fc.boolean(),
      syncPeriod: ms(0),
      minSyncPeriod: ms(0),
    }),
    winkernel: some({
      networkName: word(),
      sourceVip: word(),
      enableDSR: fc.boolean(),
      forwardHealthCheckVip: fc.boolean(),
    }),
    windowsRunAsService: fc.boolean(),
    detectLocalMode: fc.constantFrom('', 'ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'),
    clusterCIDR: fc.constantFrom('', '10.0.0.0/8', 'fd00::/8', '10.1.0.0/8, fd00::/8'),
    nodePortAddresses: fc.array(fc.oneof(cidr(), fc.constantFrom('primary', 'localhost', 'all')), { maxLength: 4 }),
    oomScoreAdj: count(-1000, 1000),
    conntrack: some({
      maxPerCore: count(0),
      min: count(0),
      tcpEstablishedTimeout: ms(0),
      tcpCloseWaitTimeout: ms(0),
      tcpBeLiberal: fc.boolean(),
      udpTimeout: ms(0),
      udpStreamTimeout: ms(0),
    }),
    configSyncPeriod: periods,
    portRange: fc.constantFrom('', '1-2', '5+6', '0-0'),
  });
  const own = some({
    behaviour: fc.constantFrom('documented', 'kube-proxy'),
    weightPolicy: fc.constantFrom('uniform', 'byCondition'),
    weights: some({ ready: count(1, 65_535), readyNotServing: count(0, 65_535), notReady: count(0, 65_535) }),
    schedulerFlags: fc.subarray(['flag-3']),
    unknownScheduler: fc.constantFrom('stop', 'round-robin'),
    sloppyTCP: fc.boolean(),
    sloppySCTP: fc.boolean(),
    runEstimation: fc.boolean(),
    connReuseMode: count(0, 3),
    apiServers: fc.array(
      word().map((host) => `https://${host}:6443`),
      { maxLength: 2 },
    ),
    otherNodes: fc.constantFrom('watched', 'ignored'),
    draining: some({ limit: ms(0), deletedServices: fc.constantFrom('reset', 'finish', 'cut') }),
    sets: some({ maxEntries: count(1024, 16_777_216) }),
    queue: some({
      thresholds: some({ criticalBelowReadyRatio: fc.constantFrom(0, 0.25, 1) }),
      delays: some({ low: ms(2_000, DAY_MS) }),
      batchSize: count(1),
      batchWindow: ms(0, DAY_MS),
      retries: some({
        update: some({ max: ms(60_000, DAY_MS) }),
        minor: some({ slow: ms(60_000, DAY_MS) }),
        readiness: some({ fastTries: count(0) }),
      }),
      retryJitter: fc.constantFrom(0, 0.5, 1),
      passesPerSecond: fc.constantFrom(0.5, 100),
      quarantineAfterFailures: count(1),
    }),
  });
  const detectLocal = { bridgeInterface: 'cni0', interfaceNamePrefix: 'veth' };
  return fc
    .tuple(kubeProxy, fc.option(own))
    .map(([main, second]) => `${HEAD}${lines({ ...main, detectLocal })}${second === null ? '' : OWN + lines(second)}`);
}

/** As YAML, whose values may be JSON. */
function lines(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('');
}

function someFlags(): fc.Arbitrary<GivenFlags> {
  return some({
    'ipvs-scheduler': fc.constantFrom('', 'rr', 'sed'),
    'ipvs-min-sync-period': fc.constantFrom('0', '100ms', '30s'),
    'ipvs-exclude-cidrs': fc.array(cidr(), { maxLength: 2 }).map((list) => list.join(',')),
    'nodeport-addresses': fc.constantFrom('', 'primary', 'localhost,10.0.0.0/8'),
    'healthz-bind-address': fc.oneof(listen(), fc.constant('')),
    'healthz-port': fc.constantFrom('0', '10256', '99'),
    'metrics-bind-address': fc.oneof(listen(), fc.constant('')),
    'kube-api-qps': fc.constantFrom('0', '5.5', '-1'),
    'kube-api-burst': fc.constantFrom('0', '7'),
    'iptables-min-sync-period': fc.constantFrom('0', '2s'),
    'hostname-override': fc.constantFrom('A', 'b'),
    'feature-gates': fc.constantFrom('AllBeta=true', 'A=false,B=true'),
    'oom-score-adj': fc.constantFrom('-1000', '0'),
    'conntrack-min': fc.constantFrom('0', '5'),
    behaviour: fc.constantFrom('documented', 'kube-proxy'),
    master: fc.constantFrom('', 'https://a'),
    v: fc.constantFrom('0', '4'),
  });
}
