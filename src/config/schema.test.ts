import { expect } from 'chai';
import { DEFAULTS, errorsOf, fromFile, OWN } from './config-fixture.ts';

const { ipvs, clientConnection, conntrack, queue, draining } = DEFAULTS;
const PERIOD = 'a duration greater than 0 with its unit, such as "30s" or "1h30m"';
const TIMEOUT = 'a duration of 0 or more with its unit, such as "30s" or "1h30m"';
const COUNT = 'a whole number from 0 to 2147483647';
const LISTEN = 'IP or IP:PORT with a port from 1 to 65535, IPv6 in brackets before a port';
const SCHEDULER = 'the name of an IPVS scheduler such as "rr", or empty';
const INTERFACE = 'an interface name of up to 15 characters without blanks, quotes and slashes, or empty';
const FLAG = 'one of "mh-port", "mh-fallback", "sh-port", "sh-fallback", "flag-1", "flag-2", "flag-3"';
const NODE_PORT = 'a CIDR, "primary", "localhost" or "all"';

describe('config/schema', () => {
  const accepted: [name: string, text: string, expected: object][] = [
    ['sync periods', 'ipvs: {syncPeriod: 1m, minSyncPeriod: 2s}', { syncPeriodMs: 60_000, minSyncPeriodMs: 2_000 }],
    ['a resync period', 'configSyncPeriod: 1h', { configSyncPeriodMs: 3_600_000 }],
    ['a TCP timeout', 'ipvs: {tcpTimeout: 900s}', { ipvs: { ...ipvs, tcpTimeoutMs: 900_000 } }],
    ['a FIN timeout', 'ipvs: {tcpFinTimeout: 2m}', { ipvs: { ...ipvs, tcpFinTimeoutMs: 120_000 } }],
    ['a UDP timeout', 'ipvs: {udpTimeout: 1.5s}', { ipvs: { ...ipvs, udpTimeoutMs: 1_500 } }],
    [
      'a scheduler',
      'ipvs: {scheduler: wlc, strictARP: true}',
      { ipvs: { ...ipvs, scheduler: 'wlc', strictARP: true } },
    ],
    [
      'CIDRs with host bits, in canonical form',
      'ipvs: {excludeCIDRs: [10.1.2.3/8, "FD00::1/64"]}',
      { ipvs: { ...ipvs, excludeCIDRs: ['10.0.0.0/8', 'fd00::/64'] } },
    ],
    [
      'node port addresses as a mix of CIDRs and words, each once',
      'nodePortAddresses: [192.168.0.0/16, primary, localhost, 127.0.0.0/8]',
      { nodePortAddresses: ['192.168.0.0/16', 'primary', '127.0.0.0/8', '::1/128'] },
    ],
    [
      'bare listen addresses, with the default port',
      'healthzBindAddress: 127.0.0.1\nmetricsBindAddress: "fd00::1"',
      {
        healthzBindAddress: { address: '127.0.0.1', port: 10256 },
        metricsBindAddress: { address: 'fd00::1', port: 10249 },
      },
    ],
    [
      'an IPv6 bindAddress, with servers on IPv6',
      'bindAddress: "::"',
      {
        bindAddress: '::',
        healthzBindAddress: { address: '::', port: 10256 },
        metricsBindAddress: { address: '::1', port: 10249 },
      },
    ],
    ['a node name, trimmed and in lower case', 'hostnameOverride: " Node-A "', { hostnameOverride: 'node-a' }],
    ['a flush frequency in nanoseconds', 'logging: {flushFrequency: 5000000000}', {}],
    ['log settings', 'logging: {verbosity: 4, format: json}', { logging: { format: 'json', verbosity: 4 } }],
    ['log settings without effect', 'logging: {vmodule: [{filePattern: a, verbosity: 2}]}', {}],
    [
      'nftables settings, whatever they are',
      'nftables: {masqueradeBit: 99, syncPeriod: -5s}',
      withoutEffect('nftables.masqueradeBit, nftables.syncPeriod'),
    ],
    [
      'Windows settings',
      'winkernel: {enableDSR: true, sourceVip: x}\nwindowsRunAsService: true',
      withoutEffect('winkernel.sourceVip, winkernel.enableDSR, windowsRunAsService'),
    ],
    [
      'masquerading from the iptables section',
      'iptables: {masqueradeBit: 31, masqueradeAll: true, localhostNodePorts: false, syncPeriod: 1s, minSyncPeriod: 2s}',
      {
        iptables: { masqueradeBit: 31, masqueradeAll: true },
        ...withoutEffect('iptables.localhostNodePorts, iptables.syncPeriod, iptables.minSyncPeriod'),
      },
    ],
    [
      'a client without a limit',
      'clientConnection: {qps: -1.5, burst: 5, kubeconfig: /k, acceptContentTypes: a}',
      { clientConnection: { ...clientConnection, qps: -1.5, burst: 5, kubeconfig: '/k', acceptContentTypes: 'a' } },
    ],
    [
      'conntrack limits of 0',
      'conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}',
      { conntrack: { ...conntrack, maxPerCore: 0, min: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 } },
    ],
    [
      'other conntrack settings',
      'conntrack: {tcpBeLiberal: true, udpTimeout: 30s, udpStreamTimeout: 3m}',
      { conntrack: { ...conntrack, tcpBeLiberal: true, udpTimeoutMs: 30_000, udpStreamTimeoutMs: 180_000 } },
    ],
    ['an OOM score of 0', 'oomScoreAdj: 0', { oomScoreAdj: 0 }],
    [
      'switches of the servers',
      'bindAddressHardFail: true\nenableProfiling: true\nshowHiddenMetricsForVersion: "1.36"',
      { bindAddressHardFail: true, enableProfiling: true, showHiddenMetricsForVersion: '1.36' },
    ],
    [
      'our behaviour',
      `${OWN}behaviour: kube-proxy`,
      { behaviour: 'kube-proxy', otherNodes: 'ignored', draining: { ...draining, closingMs: 0 } },
    ],
    [
      'connections of deleted Services that are reset once they had their time',
      `${OWN}draining: {deletedServices: finish, limit: 1m}`,
      { draining: { limitMs: 60_000, ofDeletedServices: true, closingMs: 30_000 } },
    ],
    [
      'connections of deleted Services that are cut',
      `${OWN}draining: {deletedServices: cut}`,
      { draining: { ...draining, closingMs: 0 } },
    ],
    ['weights by condition', `${OWN}weightPolicy: byCondition`, { weightPolicy: 'byCondition' }],
    [
      'weights at both ends, with the default for one that is not given',
      `${OWN}weightPolicy: byCondition\nweights: {ready: 1, notReady: 65535}`,
      { weightPolicy: 'byCondition', weights: { ready: 1, readyNotServing: 5, notReady: 65_535 } },
    ],
    [
      'an endpoint without weight when it does not serve',
      `${OWN}weightPolicy: byCondition\nweights: {readyNotServing: 0}`,
      { weightPolicy: 'byCondition', weights: { ready: 10, readyNotServing: 0, notReady: 0 } },
    ],
    [
      'flags of the scheduler',
      `ipvs: {scheduler: mh}\n${OWN}schedulerFlags: [mh-port, flag-1]`,
      { ipvs: { ...ipvs, scheduler: 'mh' }, schedulerFlags: ['mh-port', 'flag-1'] },
    ],
    ['no flags', `${OWN}schedulerFlags: []`, { schedulerFlags: [] }],
    ['null for flags as absent', `${OWN}schedulerFlags: null\nsloppyTCP: null`, {}],
    ['sloppy TCP', `${OWN}sloppyTCP: true`, { sloppyTCP: true }],
    ['no looking at other Nodes', `${OWN}otherNodes: ignored`, { otherNodes: 'ignored' }],
    ['sloppy SCTP switched off', `${OWN}sloppySCTP: false`, { sloppySCTP: false }],
    [
      'other numbers for the queue',
      `${OWN}queue: {batchSize: 5, delays: {low: 3s}}`,
      { queue: { ...queue, batchSize: 5, levelDelaysMs: { ...queue.levelDelaysMs, low: 3_000 } } },
    ],
    ['null for numbers of the queue as absent', `${OWN}queue: {batchSize: null, delays: null}`, {}],
  ];
  for (const [name, text, expected] of accepted) {
    it(`accepts ${name}`, () => expect(fromFile(text)).to.deep.equal({ ...DEFAULTS, ...expected }));
  }

  const refused: [text: string, field: string, allowed: string, given: string][] = [
    ['mode: userspace', 'mode', 'one of "", "ipvs", "iptables", "nftables"', '"userspace"'],
    ['bindAddress: node-a', 'bindAddress', 'an IPv4 or IPv6 address', '"node-a"'],
    ['healthzBindAddress: 0.0.0.0:0', 'healthzBindAddress', LISTEN, '"0.0.0.0:0"'],
    ['metricsBindAddress: localhost:10249', 'metricsBindAddress', LISTEN, '"localhost:10249"'],
    ['hostnameOverride: "  "', 'hostnameOverride', 'a node name, or empty', '"  "'],
    ['showHiddenMetricsForVersion: v1', 'showHiddenMetricsForVersion', 'a release such as "1.36", or empty', '"v1"'],
    ['bindAddressHardFail: 1', 'bindAddressHardFail', 'true or false', '1'],
    ['iptables: {masqueradeBit: 32}', 'iptables.masqueradeBit', 'a whole number from 0 to 31', '32'],
    ['iptables: {masqueradeBit: -1}', 'iptables.masqueradeBit', 'a whole number from 0 to 31', '-1'],
    ['iptables: {masqueradeBit: "14"}', 'iptables.masqueradeBit', 'a whole number from 0 to 31', '"14"'],
    ['iptables: {masqueradeAll: "true"}', 'iptables.masqueradeAll', 'true or false', '"true"'],
    ['iptables: {syncPeriod: -1s}', 'iptables.syncPeriod', PERIOD, '"-1s"'],
    ['iptables: {minSyncPeriod: -1s}', 'iptables.minSyncPeriod', TIMEOUT, '"-1s"'],
    ['ipvs: {syncPeriod: 30}', 'ipvs.syncPeriod', PERIOD, '30'],
    ['ipvs: {syncPeriod: -1s}', 'ipvs.syncPeriod', PERIOD, '"-1s"'],
    ['ipvs: {minSyncPeriod: -1s}', 'ipvs.minSyncPeriod', TIMEOUT, '"-1s"'],
    ['ipvs: {tcpTimeout: -1s}', 'ipvs.tcpTimeout', TIMEOUT, '"-1s"'],
    ['ipvs: {tcpFinTimeout: soon}', 'ipvs.tcpFinTimeout', TIMEOUT, '"soon"'],
    ['ipvs: {udpTimeout: -1ns}', 'ipvs.udpTimeout', TIMEOUT, '"-1ns"'],
    ['ipvs: {scheduler: "rr -p"}', 'ipvs.scheduler', SCHEDULER, '"rr -p"'],
    ['ipvs: {scheduler: "rr\\n"}', 'ipvs.scheduler', SCHEDULER, '"rr\\n"'],
    [
      'ipvs: {excludeCIDRs: [::/0, 10.0.0.1]}',
      'ipvs.excludeCIDRs[1]',
      'a CIDR such as 10.0.0.0/8 or fd00::/64',
      '"10.0.0.1"',
    ],
    ['ipvs: {excludeCIDRs: 10.0.0.0/8}', 'ipvs.excludeCIDRs', 'a list', '"10.0.0.0/8"'],
    ['ipvs: [rr]', 'ipvs', 'a mapping of fields', 'a list'],
    ['nftables: {syncPeriod: x}', 'nftables.syncPeriod', 'a duration with its unit, such as "30s" or "1h30m"', '"x"'],
    ['detectLocal: {bridgeInterface: "cni0 -j ACCEPT"}', 'detectLocal.bridgeInterface', INTERFACE, '"cni0 -j ACCEPT"'],
    ['detectLocal: {interfaceNamePrefix: "a\\n"}', 'detectLocal.interfaceNamePrefix', INTERFACE, '"a\\n"'],
    ['clusterCIDR: 10', 'clusterCIDR', 'text', '10'],
    ['nodePortAddresses: [::/0, secondary]', 'nodePortAddresses[1]', NODE_PORT, '"secondary"'],
    ['nodePortAddresses: [null]', 'nodePortAddresses[0]', NODE_PORT, 'null'],
    ['oomScoreAdj: -1001', 'oomScoreAdj', 'a whole number from -1000 to 1000', '-1001'],
    ['oomScoreAdj: 0.5', 'oomScoreAdj', 'a whole number from -1000 to 1000', '0.5'],
    ['clientConnection: {burst: -1}', 'clientConnection.burst', COUNT, '-1'],
    ['clientConnection: {qps: fast}', 'clientConnection.qps', 'a number', '"fast"'],
    ['clientConnection: {qps: .nan}', 'clientConnection.qps', 'a number', 'NaN'],
    ['conntrack: {maxPerCore: -1}', 'conntrack.maxPerCore', COUNT, '-1'],
    ['conntrack: {min: 2147483648}', 'conntrack.min', COUNT, '2147483648'],
    ['conntrack: {tcpEstablishedTimeout: -1s}', 'conntrack.tcpEstablishedTimeout', TIMEOUT, '"-1s"'],
    ['conntrack: {tcpCloseWaitTimeout: -1s}', 'conntrack.tcpCloseWaitTimeout', TIMEOUT, '"-1s"'],
    ['conntrack: {udpTimeout: -1s}', 'conntrack.udpTimeout', TIMEOUT, '"-1s"'],
    ['conntrack: {udpStreamTimeout: -1s}', 'conntrack.udpStreamTimeout', TIMEOUT, '"-1s"'],
    ['configSyncPeriod: -1s', 'configSyncPeriod', PERIOD, '"-1s"'],
    ['portRange: 5-1', 'portRange', 'a port range such as "1000-2000" or "1000+100", or empty', '"5-1"'],
    ['featureGates: {AllAlpha: "on"}', 'featureGates.AllAlpha', 'true or false', '"on"'],
    ['featureGates: [AllAlpha]', 'featureGates', 'a mapping of names to values', 'a list'],
    ['logging: {format: xml}', 'logging.format', 'one of "text", "json"', '"xml"'],
    [
      'logging: {flushFrequency: 1.5}',
      'logging.flushFrequency',
      'a duration such as "5s", or a whole number of nanoseconds',
      '1.5',
    ],
    ['logging: {verbosity: -1}', 'logging.verbosity', COUNT, '-1'],
    ['logging: {vmodule: [{verbosity: x}]}', 'logging.vmodule[0].verbosity', COUNT, '"x"'],
    [
      'logging: {options: {json: {infoBufferSize: big}}}',
      'logging.options.json.infoBufferSize',
      'a size such as 0 or "64Ki"',
      '"big"',
    ],
    [
      'logging: {options: {text: {infoBufferSize: {toString: ""}}}}',
      'logging.options.text.infoBufferSize',
      'a size such as 0 or "64Ki"',
      'a mapping',
    ],
    [`${OWN}behaviour: mine`, 'behaviour', 'one of "documented", "kube-proxy"', '"mine"'],
    [`${OWN}weightPolicy: bycondition`, 'weightPolicy', 'one of "uniform", "byCondition"', '"bycondition"'],
    [`${OWN}weights: {ready: 0}`, 'weights.ready', 'a whole number from 1 to 65535', '0'],
    [`${OWN}weights: {ready: 65536}`, 'weights.ready', 'a whole number from 1 to 65535', '65536'],
    [`${OWN}weights: {readyNotServing: -1}`, 'weights.readyNotServing', 'a whole number from 0 to 65535', '-1'],
    [`${OWN}weights: {notReady: 0.5}`, 'weights.notReady', 'a whole number from 0 to 65535', '0.5'],
    [`${OWN}weights: 10`, 'weights', 'a mapping of fields', '10'],
    [`${OWN}schedulerFlags: sh-port`, 'schedulerFlags', 'a list', '"sh-port"'],
    [`${OWN}schedulerFlags: [flag-1, ops]`, 'schedulerFlags[1]', FLAG, '"ops"'],
    [`${OWN}sloppyTCP: 1`, 'sloppyTCP', 'true or false', '1'],
    [`${OWN}sloppySCTP: "false"`, 'sloppySCTP', 'true or false', '"false"'],
  ];
  for (const [text, field, allowed, given] of refused) {
    it(`refuses ${JSON.stringify(text.replace(OWN, ''))}`, () =>
      expect(errorsOf(text)).to.deep.equal([
        { where: 'proxy.yaml', field, message: `must be ${allowed}; got ${given}` },
      ]));
  }
});

/** The notices of a file that sets these of other modes. */
function withoutEffect(fields: string): object {
  return { notices: [...DEFAULTS.notices, `fields of other modes have no effect here: ${fields}`] };
}
