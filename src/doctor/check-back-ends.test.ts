import { expect } from 'chai';
import type { EveryTable } from '../kernel/iptables/state.ts';
import { fail, succeed } from '../model/result.ts';
import { checkBackEnds } from './check-back-ends.ts';
import type { Fact } from './facts.ts';
import { HEALTHY, inShort, tables } from './facts-fixture.ts';

describe('doctor/check-back-ends', () => {
  const none = succeed(new Map());
  const some = succeed(tables('*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -i lo -j ACCEPT\nCOMMIT\n'));
  const kubelet = succeed(
    tables(
      '*mangle\n:KUBE-KUBELET-CANARY - [0:0]\n-A INPUT -j ACCEPT\nCOMMIT\n*nat\n:A - [0:0]\n-A A -j RETURN\nCOMMIT\n',
    ),
  );
  const cases: readonly (readonly [string, nft: Fact<EveryTable>, legacy: Fact<EveryTable>, readonly string[]])[] = [
    ['finds nothing where all rules are where iptables looks', some, none, []],
    ['warns where the rules are where it does not look', none, some, ['warning rules-in-other-back-end']],
    ['warns where those of the kubelet are', some, kubelet, ['warning rules-in-other-back-end']],
    ['notes rules in both', kubelet, some, ['note rules-in-both-back-ends']],
    ['says so of rules that cannot be read', some, fail('EACCES'), ['not checked: IPv4 rules of the legacy back end']],
  ];
  for (const [name, nft, legacy, expected] of cases) {
    it(name, () => {
      const rules = { nft: { IPv4: nft, IPv6: none }, legacy: { IPv4: legacy, IPv6: none } };
      expect(inShort(checkBackEnds({ ...HEALTHY, rules }))).to.deep.equal(expected);
    });
  }

  it('warns of a lock that others do not share', () => {
    expect(inShort(checkBackEnds({ ...HEALTHY, ruleLock: 'not shared' }))).to.deep.equal([
      'warning rule-lock-not-shared',
    ]);
  });

  it('cannot tell without the version of iptables', () => {
    expect(inShort(checkBackEnds({ ...HEALTHY, tools: new Map() }))).to.deep.equal([
      'not checked: the back end of iptables',
    ]);
  });
});
