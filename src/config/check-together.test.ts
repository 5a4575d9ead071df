import { expect } from 'chai';
import { errorsOf, fromFile, fromFlags, OWN } from './config-fixture.ts';

describe('config/check-together', () => {
  const refused: [text: string, field: string, message: string][] = [
    ['ipvs: {minSyncPeriod: 31s}', 'ipvs.minSyncPeriod', 'must not be longer than ipvs.syncPeriod, 30s; got 31s'],
    [
      'detectLocalMode: BridgeInterface',
      'detectLocal.bridgeInterface',
      'must be set when detectLocalMode is BridgeInterface; got ""',
    ],
    [
      'detectLocalMode: InterfaceNamePrefix',
      'detectLocal.interfaceNamePrefix',
      'must be set when detectLocalMode is InterfaceNamePrefix; got ""',
    ],
    ...['10.0.0.0', '10.0.0.0/8,10.1.0.0/16', '10.0.0.0/8,fd00::/8,fd01::/16', '10.0.0.0/8,'].map(
      (cidrs): [string, string, string] => [
        `clusterCIDR: "${cidrs}"`,
        'clusterCIDR',
        `must be one CIDR, or an IPv4 and an IPv6 one with a comma between; got "${cidrs}"`,
      ],
    ),
    [
      `${OWN}schedulerFlags: [flag-1, sh-port]`,
      'schedulerFlags[1]',
      flagOf('rr', '"flag-1", "flag-2", "flag-3"', 'sh-port'),
    ],
    [
      `ipvs: {scheduler: sh}\n${OWN}schedulerFlags: [mh-port]`,
      'schedulerFlags[0]',
      flagOf('sh', '"sh-fallback", "sh-port", "flag-1", "flag-2"', 'mh-port'),
    ],
    [
      `ipvs: {scheduler: mh}\n${OWN}schedulerFlags: [mh-port, flag-3]`,
      'schedulerFlags[1]',
      flagOf('mh', '"mh-fallback", "mh-port", "flag-1", "flag-2"', 'flag-3'),
    ],
  ];
  for (const [text, field, message] of refused) {
    it(`refuses ${text.replace(OWN, '')}`, () =>
      expect(errorsOf(text)).to.deep.equal([{ where: 'proxy.yaml', field, message }]));
  }

  it('accepts a least time between passes as long as the period', () =>
    expect(fromFile('ipvs: {syncPeriod: 5s, minSyncPeriod: 5s}').minSyncPeriodMs).to.equal(5_000));

  it('does not compare the periods of the iptables section, which are not in force', () =>
    expect(fromFlags({ 'iptables-min-sync-period': '1h' }).minSyncPeriodMs).to.equal(1_000));

  it('accepts a dual-stack pair of cluster CIDRs', () =>
    expect(fromFile('clusterCIDR: "10.244.0.0/16, fd00:10:244::/56"').clusterCIDRs).to.deep.equal([
      '10.244.0.0/16',
      'fd00:10:244::/56',
    ]));

  it('leaves cluster CIDRs unchecked in a mode that does not use them', () => {
    const config = fromFile('detectLocalMode: NodeCIDR\nclusterCIDR: 10.0.0.0/8,nonsense,10.1.0.0/16');
    expect(config.detectLocal).to.deep.equal({ mode: 'NodeCIDR' });
    expect(config.clusterCIDRs).to.deep.equal(['10.0.0.0/8', '10.1.0.0/16']);
  });

  it('knows the interface that a mode needs', () => {
    const bridge = fromFile('detectLocalMode: BridgeInterface\ndetectLocal: {bridgeInterface: cni0}');
    const prefix = fromFile('detectLocalMode: InterfaceNamePrefix\ndetectLocal: {interfaceNamePrefix: cali}');
    expect(bridge.detectLocal).to.deep.equal({ mode: 'BridgeInterface', bridgeInterface: 'cni0' });
    expect(prefix.detectLocal).to.deep.equal({ mode: 'InterfaceNamePrefix', interfaceNamePrefix: 'cali' });
  });

  for (const [text, field] of [
    ['ipvs: {syncPeriod: 2x, minSyncPeriod: 1m}', 'ipvs.syncPeriod'],
    ['detectLocalMode: BridgeInterface\ndetectLocal: 5', 'detectLocal'],
    ['detectLocalMode: Magic\nclusterCIDR: x', 'detectLocalMode'],
    [`ipvs: {scheduler: S H}\n${OWN}schedulerFlags: [sh-port]`, 'ipvs.scheduler'],
    [`ipvs: mh\n${OWN}schedulerFlags: [mh-port]`, 'ipvs'],
    [`ipvs: {scheduler: rr}\n${OWN}schedulerFlags: [sh-port, ops]`, 'schedulerFlags[1]'],
  ] as const) {
    it(`does not hold defaults against the partner of a wrong ${field}`, () =>
      expect(errorsOf(text).map((error) => error.field)).to.deep.equal([field]));
  }
});

function flagOf(scheduler: string, allowed: string, given: string): string {
  return `must be a flag of ipvs.scheduler, ${scheduler}: one of ${allowed}; got "${given}"`;
}
