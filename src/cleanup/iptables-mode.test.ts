import { expect } from 'chai';
import { parseEveryTable } from '../kernel/iptables/parse.ts';
import { isIptablesModeChain } from './chain-names.ts';
import { removeIptablesMode } from './iptables-mode.ts';

describe('cleanup/iptables-mode', () => {
  const names: readonly (readonly [string, string, boolean])[] = [
    ['nat', 'KUBE-SVC-ERIFXISQEP7F7OF4', true],
    ['nat', 'KUBE-SVL-ERIFXISQEP7F7OF4', true],
    ['nat', 'KUBE-SEP-3EFFWFMAFRB7JSKN', true],
    ['nat', 'KUBE-FW-CRFOGGGMGG2JNSF7', true],
    ['nat', 'KUBE-EXT-CRFOGGGMGG2JNSF7', true],
    ['nat', 'KUBE-XLB-CRFOGGGMGG2JNSF7', true],
    ['nat', 'KUBE-SVC-SHORT', false],
    ['nat', 'KUBE-SVC-ERIFXISQEP7F7OF44', false],
    ['nat', 'KUBE-SVC-erifxisqep7f7of4', false],
    ['nat', 'KUBE-SVC-IPSETS', false],
    ['filter', 'KUBE-SVC-ERIFXISQEP7F7OF4', false],
    ['nat', 'KUBE-NODEPORTS', true],
    ['nat', 'KUBE-NODE-PORT', false],
    ['filter', 'KUBE-EXTERNAL-SERVICES', true],
    ['mangle', 'KUBE-PROXY-CANARY', true],
    ['mangle', 'KUBE-KUBELET-CANARY', false],
    ['mangle', 'KUBE-IPTABLES-HINT', false],
    ['nat', 'KUBE-MARK-DROP', false],
    ['filter', 'KUBE-FIREWALL', false],
  ];
  for (const [table, chain, isOfIt] of names) {
    it(`${isOfIt ? 'knows' : 'does not take for its own'} ${chain} of table ${table}`, () =>
      expect(isIptablesModeChain(table, chain)).to.equal(isOfIt));
  }

  const text = `*filter
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
-A INPUT -m comment --comment "kubernetes health check service ports" -j KUBE-NODEPORTS
-A INPUT -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL
-A OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
COMMIT
`;

  it('takes nothing of what ipvs mode uses, but what leads to it from elsewhere', () => {
    const { removals, kept } = removeIptablesMode(parseEveryTable(text) ?? new Map(), true);
    expect(removals).to.deep.equal([
      {
        table: 'filter',
        rules: [
          { chain: 'INPUT', rule: '-m comment --comment "kubernetes health check service ports" -j KUBE-NODEPORTS' },
          {
            chain: 'OUTPUT',
            rule: '-m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL',
          },
        ],
        emptied: [],
        chains: ['KUBE-NODEPORTS'],
      },
    ]);
    expect(kept).to.deep.equal([{ table: 'filter', chain: 'KUBE-PROXY-FIREWALL', why: 'ipvs mode uses it' }]);
  });

  it('takes the chains of both where ipvs mode does not use them', () => {
    const alone = text.replace(/^.*kube-proxy firewall rules.*\n/m, '');
    const { removals, kept } = removeIptablesMode(parseEveryTable(alone) ?? new Map(), false);
    expect([removals[0]?.chains, removals[0]?.rules.length, kept]).to.deep.equal([
      ['KUBE-NODEPORTS', 'KUBE-PROXY-FIREWALL'],
      2,
      [],
    ]);
  });
});
