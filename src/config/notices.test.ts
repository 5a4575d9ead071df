import { expect } from 'chai';
import { fromFile, fromFlags, OWN } from './config-fixture.ts';

const anyway = (mode: string) =>
  `mode is "${mode}"; this program runs ipvs anyway; what kube-proxy made in that mode stays until "ipvs-proxier cleanup --of ${mode}"`;
const UNUSED_WEIGHTS = 'weights do not count, as weightPolicy is "uniform"; every endpoint has weight 1';

describe('config/notices', () => {
  const cases: [text: string, notices: string[]][] = [
    ['mode: ipvs', []],
    ['mode: ""', ['mode is empty; this program runs ipvs anyway']],
    ['mode: iptables', [anyway('iptables')]],
    ['mode: nftables', [anyway('nftables')]],
    [
      'mode: ipvs\niptables: {syncPeriod: 5s, minSyncPeriod: 2s, masqueradeAll: true, localhostNodePorts: false}\nnftables: {masqueradeBit: 15}\nwinkernel: {enableDSR: true}\nwindowsRunAsService: true',
      [
        'fields of other modes have no effect here: iptables.localhostNodePorts, iptables.syncPeriod, iptables.minSyncPeriod, nftables.masqueradeBit, winkernel.enableDSR, windowsRunAsService',
      ],
    ],
    ['mode: ipvs\niptables: {syncPeriod: 30s, minSyncPeriod: 0s}\nnftables: {masqueradeBit: 14}', []],
    [
      'mode: ipvs\nfeatureGates: {SupportIPVSProxyMode: true}',
      ['feature gate "SupportIPVSProxyMode" is not known and has no effect'],
    ],
    [
      'mode: ipvs\nfeatureGates: {KubeProxyIPVS: false, AllBeta: true}',
      ['feature gate KubeProxyIPVS is false; this program runs ipvs anyway'],
    ],
    [
      'mode: ipvs\nconntrack: {max: 5}\nudpIdleTimeout: 250ms\nresourceContainer: /kube-proxy',
      ['conntrack.max', 'udpIdleTimeout', 'resourceContainer'].map(
        (field) => `field ${field} was removed from kube-proxy and has no effect`,
      ),
    ],
    ['mode: ipvs\nconntrack: {max: null}', []],
    [`mode: ipvs\n${OWN}weights: {ready: 20}`, [UNUSED_WEIGHTS]],
    [`mode: ipvs\n${OWN}weightPolicy: uniform\nweights: {notReady: 1}`, [UNUSED_WEIGHTS]],
    [`mode: ipvs\n${OWN}weightPolicy: uniform\nweights: {ready: 10}`, []],
    [`mode: ipvs\n${OWN}weightPolicy: uniform\nweights: null`, []],
    [`mode: ipvs\n${OWN}weightPolicy: byCondition\nweights: {ready: 20}`, []],
  ];
  for (const [text, notices] of cases) {
    it(`has ${notices.length} notices for ${JSON.stringify(text)}`, () =>
      expect(fromFile(text).notices).to.deep.equal(notices));
  }

  it('has one for each deprecated flag that counts', () => {
    const flags = { 'proxy-mode': 'ipvs', logtostderr: true, 'proxy-port-range': '1-2' };
    expect(fromFlags(flags).notices).to.deep.equal([
      'flag --proxy-port-range is deprecated: It has no effect.',
      'flag --logtostderr is deprecated: It has no effect.',
    ]);
    expect(fromFile('mode: ipvs', flags).notices).to.deep.equal([
      'flag --logtostderr is deprecated: It has no effect.',
    ]);
  });
});
