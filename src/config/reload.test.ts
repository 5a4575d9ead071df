import { expect } from 'chai';
import { HEAD, OWN } from './config-fixture.ts';
import { effectOf, NO_EFFECT } from './field-effects.ts';
import { fieldNames } from './field-names.ts';
import type { GivenFlags } from './flag-values.ts';
import { type EffectiveConfig, loadEffective } from './load.ts';
import { judgeReload, type Reload } from './reload.ts';
import { ipvsProxierConfiguration, kubeProxyConfiguration } from './schema.ts';

describe('config/reload', () => {
  function running(text: string, flags: GivenFlags): EffectiveConfig {
    const loaded = loadEffective({ file: fileOf(text), flags });
    if (!loaded.ok) throw new Error('the running configuration of a test has to be valid');
    return loaded.value;
  }
  const fileOf = (text: string) => ({ name: 'proxy.yaml', text: HEAD + text });
  const judge = (before: string, after: string, flags: GivenFlags = {}): Reload =>
    judgeReload(running(before, flags), fileOf(after), flags);

  const same: readonly (readonly [name: string, before: string, after: string])[] = [
    ['a comment', 'mode: ipvs', '# why\nmode: ipvs'],
    ['a default that is written out', '', 'ipvs: {syncPeriod: 30s, scheduler: rr}\ndetectLocalMode: ClusterCIDR'],
    ['another way to write a duration', 'ipvs: {syncPeriod: 60s}', 'ipvs: {syncPeriod: 1m}'],
    ['another mode, which is not run anyway', 'mode: ipvs', 'mode: iptables'],
    ['fields of other modes', '', 'nftables: {masqueradeBit: 15}\niptables: {syncPeriod: 5s}\nportRange: "1-2"'],
    ['a feature gate', '', 'featureGates: {AllBeta: true}'],
    ['an empty second document', '', OWN],
  ];
  for (const [name, before, after] of same) {
    it(`takes ${name} for no change`, () => expect(judge(before, after)).to.deep.equal({ kind: 'same' }));
  }

  it('takes over another verbosity while it runs', () => {
    const judged = judge('', 'logging: {verbosity: 4}\nfeatureGates: {AllBeta: true}');
    expect(judged.kind === 'live' && judged.changes).to.deep.equal(['logging.verbosity 0 → 4']);
    expect(judged.kind === 'live' && judged.config.config.logging.verbosity).to.equal(4);
  });

  it('lets a flag beat the file as at the start', () => {
    expect(judge('', 'logging: {verbosity: 4}', { v: '2' })).to.deep.equal({ kind: 'same' });
    expect(judge('', 'hostnameOverride: node-b', { 'hostname-override': 'node-a' })).to.deep.equal({ kind: 'same' });
  });

  const restarts: readonly (readonly [before: string, after: string, changes: readonly string[]])[] = [
    ['', 'ipvs: {scheduler: wlc}', ['ipvs.scheduler "rr" → "wlc"']],
    ['ipvs: {scheduler: wlc}', '', ['ipvs.scheduler "wlc" → "rr"']],
    ['', 'healthzBindAddress: "[::1]:1"', ['healthzBindAddress "0.0.0.0:10256" → "[::1]:1"']],
    ['', 'nodePortAddresses: [10.0.0.0/8]', ['nodePortAddresses [] → ["10.0.0.0/8"]']],
    ['', `${OWN}schedulerFlags: []`, ['schedulerFlags not set → []']],
    [
      'ipvs: {strictARP: true}',
      `logging: {verbosity: 2}\nhostnameOverride: b\n${OWN}queue: {batchSize: 5, delays: {low: 3s}}`,
      [
        'hostnameOverride "" → "b"',
        'ipvs.strictARP true → false',
        'queue.delays.low "2s" → "3s"',
        'queue.batchSize 10 → 5',
      ],
    ],
  ];
  for (const [before, after, changes] of restarts) {
    it(`needs a restart for ${changes.join(', ')}`, () =>
      expect(judge(before, after)).to.deep.equal({ kind: 'restart', changes }));
  }

  it('refuses an invalid text with everything that is wrong with it', () => {
    const judged = judge('', 'ipvs: {scheduler: 5, syncPeriod: x}');
    expect(judged.kind === 'invalid' && judged.errors.map(({ field }) => field)).to.deep.equal([
      'ipvs.syncPeriod',
      'ipvs.scheduler',
    ]);
    expect(judge('', 'kind: Pod').kind).to.equal('invalid');
    expect(judge('', ': :').kind).to.equal('invalid');
  });

  it('has an effect for fields that there are, and for no others', () => {
    const fields = [...fieldNames(kubeProxyConfiguration), ...fieldNames(ipvsProxierConfiguration)];
    for (const name of NO_EFFECT) {
      expect(
        fields.some((field) => field === name || field.startsWith(`${name}.`)),
        name,
      ).to.equal(true);
    }
    expect(fields.filter((field) => effectOf(field) === 'live')).to.deep.equal(['logging.verbosity']);
  });
});
