import { expect } from 'chai';
import { diffIptables } from './diff.ts';
import { renderTableChanges, renderTables } from './render.ts';
import type { Jump, RuleText, WantedTable, WantedTables } from './state.ts';

describe('kernel/iptables/render', () => {
  const wanted: WantedTables = {
    nat: tableOf(
      { 'KUBE-SERVICES': ['-s 127.0.0.0/8 -j RETURN'], 'KUBE-MARK-MASQ': ['-j MARK --set-xmark 0x4000/0x4000'] },
      [
        { from: 'OUTPUT', rule: '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES', place: 'first' },
        {
          from: 'PREROUTING',
          rule: '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
          place: 'first',
        },
      ],
    ),
    filter: tableOf({ 'KUBE-IPVS-OUT-FILTER': [] }, []),
  };

  it('writes both tables for a node that has neither', () => {
    expect(renderTables(wanted)).to.equal(
      `*nat
:KUBE-SERVICES - [0:0]
:KUBE-MARK-MASQ - [0:0]
-I OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -s 127.0.0.0/8 -j RETURN
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
COMMIT
*filter
:KUBE-IPVS-OUT-FILTER - [0:0]
COMMIT
`,
    );
  });

  it('writes nothing for no changes', () => expect(renderTableChanges([])).to.equal(''));

  it('writes only the table that differs, and only jumps that are missing', () => {
    const changes = diffIptables(
      { nat: new Map([['OUTPUT', wanted.nat.jumps.map(({ rule }) => rule)]]), filter: wanted.filter.chains },
      wanted,
    );
    expect(renderTableChanges(changes)).to.equal(
      `*nat
:KUBE-SERVICES - [0:0]
:KUBE-MARK-MASQ - [0:0]
-I PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -s 127.0.0.0/8 -j RETURN
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
COMMIT
`,
    );
  });
});

function tableOf(
  chains: Readonly<Record<string, readonly RuleText[]>>,
  jumps: readonly Jump[],
  obsolete: readonly string[] = [],
): WantedTable {
  return { chains: new Map(Object.entries(chains)), jumps, obsolete };
}
