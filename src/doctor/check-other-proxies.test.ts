import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { checkOtherProxies } from './check-other-proxies.ts';
import type { NodeFacts } from './facts.ts';
import { HEALTHY, inShort, tables, WISHES } from './facts-fixture.ts';

describe('doctor/check-other-proxies', () => {
  const none = succeed(new Map());
  const running = succeed({ command: 'run', version: '1.2.3', pid: 7 });
  const iptablesMode = succeed(tables('*nat\n:KUBE-SERVICES - [0:0]\n:KUBE-SVC-ERIFXISQEP7F7OF4 - [0:0]\nCOMMIT\n'));
  const ipvsMode = succeed(tables('*filter\n:KUBE-IPVS-FILTER - [0:0]\n:KUBE-FORWARD - [0:0]\nCOMMIT\n'));
  const cases: readonly (readonly [name: string, Partial<NodeFacts>, readonly string[]])[] = [
    ['finds nothing where nothing runs and nothing is left', {}, []],
    [
      'notes a daemon that runs, whose ports are its own',
      { proxier: running, listening: succeed(new Set([10_249, 10_256])), proxyMode: 'ipvs' },
      ['note proxier-running'],
    ],
    [
      'names another proxy that answers',
      { proxyMode: 'iptables', listening: succeed(new Set([10_249])) },
      ['error other-proxy-running'],
    ],
    [
      'names ports that somebody else has',
      { listening: succeed(new Set([10_249, 10_256])) },
      ['error port-in-use', 'error port-in-use'],
    ],
    [
      'finds chains of iptables mode',
      { rules: { ...HEALTHY.rules, nft: { IPv4: iptablesMode, IPv6: none } } },
      ['warning iptables-mode-left'],
    ],
    [
      'finds them in the other back end too',
      { rules: { ...HEALTHY.rules, legacy: { IPv4: iptablesMode, IPv6: none } } },
      ['warning iptables-mode-left'],
    ],
    [
      'lets chains of ipvs mode be where they belong',
      { rules: { ...HEALTHY.rules, nft: { IPv4: ipvsMode, IPv6: none } } },
      [],
    ],
    [
      'finds them where nobody keeps them',
      { rules: { ...HEALTHY.rules, legacy: { IPv4: none, IPv6: ipvsMode } } },
      ['warning ipvs-mode-left-elsewhere'],
    ],
    [
      'finds tables of nftables mode',
      { nftTables: succeed('table ip kube-proxy\ntable ip filter\n') },
      ['warning nftables-mode-left'],
    ],
    [
      'says what it could not look at',
      { proxier: fail('a'), listening: fail('b'), nftTables: fail('c') },
      [
        'not checked: whether an ipvs-proxier runs',
        'not checked: ports of the daemon',
        'not checked: tables of nftables mode',
      ],
    ],
    [
      'names one that runs beside a daemon',
      { proxier: running, proxyMode: 'nftables' },
      ['error other-proxy-running', 'note proxier-running'],
    ],
  ];
  for (const [name, facts, expected] of cases) {
    it(name, () => expect(inShort(checkOtherProxies({ ...HEALTHY, ...facts }, WISHES))).to.deep.equal(expected));
  }

  it('says so of rules that it cannot read', () => {
    const rules = { ...HEALTHY.rules, nft: { IPv4: fail('EPERM'), IPv6: none } };
    expect(inShort(checkOtherProxies({ ...HEALTHY, rules }, WISHES))).to.deep.equal([
      'not checked: leftovers in IPv4 rules of the nft back end',
    ]);
  });
});
