import { expect } from 'chai';
import { DEFAULTS, errorsOf, fromFile, fromFlags, OWN } from './config-fixture.ts';
import type { GivenFlags } from './flag-values.ts';
import { loadConfig } from './load.ts';

/** Behaviour `kube-proxy` keeps no address for a while. */
const CUT = { ...DEFAULTS.draining, closingMs: 0 };

describe('config/load', () => {
  it('gives every default for a file that sets nothing', () => expect(fromFile('')).to.deep.equal(DEFAULTS));

  it('gives the same without a file, but for a least time of 1 s between passes, and does not miss the mode', () =>
    expect(fromFlags({})).to.deep.equal({ ...DEFAULTS, minSyncPeriodMs: 1_000, notices: [] }));

  it('says so when a flag asks for another mode', () =>
    expect(fromFlags({ 'proxy-mode': 'iptables' }).notices).to.deep.equal([
      'mode is "iptables"; this program runs ipvs anyway; what kube-proxy made in that mode stays until "ipvs-proxier cleanup --of iptables"',
    ]));

  it('takes null for absent everywhere', () =>
    expect(
      fromFile('ipvs: null\niptables: {masqueradeBit: null}\nnodePortAddresses: null\noomScoreAdj: ~\nmode:'),
    ).to.deep.equal(DEFAULTS));

  it('is frozen at every depth', () => {
    const config = fromFile('nodePortAddresses: [10.0.0.0/8]\nfeatureGates: {AllAlpha: true}');
    const { ipvs, nodePortAddresses, featureGates, healthzBindAddress, notices, queue } = config;
    for (const part of [
      config,
      ipvs,
      ipvs.excludeCIDRs,
      nodePortAddresses,
      featureGates,
      healthzBindAddress,
      notices,
      queue,
      queue.retries.update,
    ]) {
      expect(Object.isFrozen(part)).to.equal(true);
    }
  });

  it('reports everything at once: wrong keys, wrong values, rules between fields, both documents, flags', () => {
    const text = `
iptables: {masqueradeBit: 40, masqeradeAll: true}
ipvs: {minSyncPeriod: 1m}
conntrack: {min: x}
clusterCIDR: nonsense
banana: 1
${OWN}behaviour: mine
queue: {batchSize: 0, pasBurst: 5, delays: {high: 1s}, retries: {update: {max: 1ms}, minor: {fast: 0}}}
`;
    expect(errorsOf(text, { v: 'loud' }).map(({ where, field }) => `${where} ${field}`)).to.have.members([
      'proxy.yaml iptables.masqueradeBit',
      'proxy.yaml iptables.masqeradeAll',
      'proxy.yaml conntrack.min',
      'proxy.yaml banana',
      'proxy.yaml ipvs.minSyncPeriod',
      'proxy.yaml clusterCIDR',
      'proxy.yaml behaviour',
      'proxy.yaml queue.batchSize',
      'proxy.yaml queue.pasBurst',
      'proxy.yaml queue.retries.minor.fast',
      'proxy.yaml queue.delays.normal',
      'proxy.yaml queue.retries.update.max',
      '--v logging.verbosity',
    ]);
  });

  describe('flags without a file', () => {
    const { clientConnection, conntrack, ipvs } = DEFAULTS;
    const deprecated = (port: string, instead: string) => `flag --${port} is deprecated: Use --${instead}.`;
    const given: [name: string, flags: GivenFlags, expected: object][] = [
      [
        'overrides the periods by the flags of ipvs',
        { 'ipvs-sync-period': '1m', 'ipvs-min-sync-period': '0' },
        { syncPeriodMs: 60_000, minSyncPeriodMs: 0 },
      ],
      [
        'ignores the periods of iptables',
        { 'iptables-sync-period': '5s', 'iptables-min-sync-period': '10s' },
        { notices: ['fields of other modes have no effect here: iptables.syncPeriod, iptables.minSyncPeriod'] },
      ],
      [
        'reads lists, maps, numbers and booleans from text',
        {
          'ipvs-exclude-cidrs': '10.0.0.0/8, fd00::/8',
          'nodeport-addresses': ['10.0.0.0/8,primary', 'fd00::/8'],
          'feature-gates': 'AllAlpha=true,AllBeta=false',
          'kube-api-qps': '2.5',
          'conntrack-min': '0',
          'masquerade-all': 'T',
        },
        {
          ipvs: { ...ipvs, excludeCIDRs: ['10.0.0.0/8', 'fd00::/8'] },
          nodePortAddresses: ['10.0.0.0/8', 'primary', 'fd00::/8'],
          featureGates: { AllAlpha: true, AllBeta: false },
          clientConnection: { ...clientConnection, qps: 2.5 },
          conntrack: { ...conntrack, min: 0 },
          iptables: { masqueradeBit: 14, masqueradeAll: true },
        },
      ],
      [
        'keeps a zero that a file could not set',
        { 'kube-api-qps': 0, 'kube-api-burst': 0 },
        { clientConnection: { ...clientConnection, qps: 0, burst: 0 } },
      ],
      [
        'switches servers off by an empty address',
        { 'healthz-bind-address': '', 'metrics-bind-address': '' },
        { healthzBindAddress: undefined, metricsBindAddress: undefined },
      ],
      [
        'gives a bare address the port of the old flag and leaves others alone',
        {
          'healthz-bind-address': '127.0.0.1',
          'healthz-port': 1234,
          'metrics-bind-address': '[::]:99',
          'metrics-port': '5',
        },
        {
          healthzBindAddress: { address: '127.0.0.1', port: 1234 },
          metricsBindAddress: { address: '::', port: 99 },
          notices: [
            deprecated('healthz-port', 'healthz-bind-address'),
            deprecated('metrics-port', 'metrics-bind-address'),
          ],
        },
      ],
      [
        'switches a server off by port 0',
        { 'healthz-bind-address': '127.0.0.1:99', 'healthz-port': 0 },
        { healthzBindAddress: undefined, notices: [deprecated('healthz-port', 'healthz-bind-address')] },
      ],
      [
        'takes overrides and logging',
        { 'hostname-override': 'Node-A', master: 'https://a', behaviour: 'kube-proxy', v: 4, 'logging-format': 'json' },
        {
          hostnameOverride: 'node-a',
          master: 'https://a',
          behaviour: 'kube-proxy',
          otherNodes: 'ignored',
          draining: CUT,
          logging: { format: 'json', verbosity: 4 },
        },
      ],
      ['leaves the flags of others alone', { 'dry-run': true, config: '', cleanup: false }, {}],
    ];
    for (const [name, flags, expected] of given) {
      it(name, () =>
        expect(fromFlags(flags)).to.deep.equal({ ...DEFAULTS, minSyncPeriodMs: 1_000, notices: [], ...expected }),
      );
    }

    const wrong: [flags: GivenFlags, field: string, message: string][] = [
      [
        { 'config-sync-period': '0s' },
        'configSyncPeriod',
        'must be a duration greater than 0 with its unit, such as "30s" or "1h30m"; got "0s"',
      ],
      [
        { 'ipvs-min-sync-period': '1m' },
        'ipvs.minSyncPeriod',
        'must not be longer than ipvs.syncPeriod, 30s; got 1m0s',
      ],
      [{ 'ipvs-sync-period': '500ms' }, 'ipvs.minSyncPeriod', 'must not be longer than ipvs.syncPeriod, 500ms; got 1s'],
      [{ 'iptables-masquerade-bit': 'x' }, 'iptables.masqueradeBit', 'must be a whole number from 0 to 31; got "x"'],
      [
        { 'nodeport-addresses': '::/0,x' },
        'nodePortAddresses[1]',
        'must be a CIDR, "primary", "localhost" or "all"; got "x"',
      ],
      [{ 'feature-gates': 'AllAlpha' }, 'featureGates.AllAlpha', 'must be true or false; got ""'],
      [{ 'hostname-override': ' ' }, 'hostnameOverride', 'must be a node name, or empty; got " "'],
      [{ behaviour: 'mine' }, 'behaviour', 'must be one of "documented", "kube-proxy"; got "mine"'],
      [{ 'healthz-port': 70_000 }, '', 'must be a port from 1 to 65535, or 0; got 70000'],
      [
        { 'detect-local-mode': 'BridgeInterface' },
        'detectLocal.bridgeInterface',
        'must be set when detectLocalMode is BridgeInterface; got ""',
      ],
    ];
    for (const [flags, field, message] of wrong) {
      it(`refuses ${JSON.stringify(flags)} by the name of the flag`, () => {
        const loaded = loadConfig({ flags });
        expect(loaded.ok ? [] : loaded.error).to.deep.equal([{ where: `--${Object.keys(flags)[0]}`, field, message }]);
      });
    }
  });

  describe('flags beside a file', () => {
    it('counts no setting, not even a wrong one, and names those that were given', () => {
      const flags = {
        'ipvs-scheduler': 'wlc',
        'conntrack-min': 'x',
        'feature-gates': 'AllAlpha=true',
        'healthz-port': 0,
      };
      expect(fromFile('', flags)).to.deep.equal({
        ...DEFAULTS,
        ignoredFlags: ['ipvs-scheduler', 'feature-gates', 'conntrack-min', 'healthz-port'],
      });
    });

    it('lets logging, node name, API server and behaviour beat the file', () => {
      const text = `hostnameOverride: from-file\nlogging: {verbosity: 1, format: json}\n${OWN}behaviour: documented\n`;
      const flags = {
        v: '5',
        'hostname-override': 'from-flag',
        master: 'https://a',
        behaviour: 'kube-proxy',
        config: 'x',
      };
      expect(fromFile(text, flags)).to.deep.equal({
        ...DEFAULTS,
        otherNodes: 'ignored',
        draining: CUT,
        hostnameOverride: 'from-flag',
        master: 'https://a',
        behaviour: 'kube-proxy',
        logging: { format: 'json', verbosity: 5 },
      });
    });

    it('keeps the node name of the file when the flag is empty', () =>
      expect(fromFile('hostnameOverride: from-file', { 'hostname-override': '' }).hostnameOverride).to.equal(
        'from-file',
      ));
  });
});
