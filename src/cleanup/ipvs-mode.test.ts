import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { SET_DEFINITIONS, setName } from '../kernel/ipset/definitions.ts';
import { parseEveryTable } from '../kernel/iptables/parse.ts';
import { renderTables } from '../kernel/iptables/render.ts';
import { TABLES } from '../kernel/iptables/state.ts';
import { FAMILIES } from '../net/family.ts';
import { isBuiltInChain, isIpvsModeChain } from './chain-names.ts';
import { ipvsModeSets, removeIpvsMode } from './ipvs-mode.ts';

describe('cleanup/ipvs-mode', () => {
  for (const behaviour of ['documented', 'kube-proxy'] as const) {
    const { tables } = desiredFor([[servicePort(), [endpoint()]]], { behaviour }).kernel;

    it(`knows every chain that behaviour ${behaviour} makes, and every rule that leads to one`, () => {
      const names = TABLES.flatMap((table) => [...tables[table].chains.keys()].map((chain) => [table, chain] as const));
      expect(names.filter(([table, chain]) => !isIpvsModeChain(table, chain))).to.deep.equal([]);
      const read = parseEveryTable(renderTables(tables).replace(/^-I (.*)$/gm, '-A $1'));
      const present = new Map(
        [...(read ?? [])].map(([table, chains]) => {
          const jumps = tables[table as 'nat' | 'filter'].jumps;
          const builtIn = [...new Set(jumps.map(({ from }) => from))].map((from) => {
            return [from, jumps.filter((jump) => jump.from === from).map(({ rule }) => rule)] as const;
          });
          return [table, new Map([...chains, ...builtIn])] as const;
        }),
      );
      const { removals, kept } = removeIpvsMode(present);
      expect(kept).to.deep.equal([]);
      for (const { table, rules, chains } of removals) {
        const { jumps, chains: made } = tables[table as 'nat' | 'filter'];
        expect([...chains].sort()).to.deep.equal([...made.keys()].sort());
        expect(rules.every(({ chain }) => isBuiltInChain(chain))).to.equal(true);
        expect(rules.map(({ rule }) => rule).sort()).to.deep.equal(jumps.map(({ rule }) => rule).sort());
      }
    });
  }

  it('knows every set of each family, those for exchange, and those of older releases', () => {
    for (const family of FAMILIES) {
      expect(ipvsModeSets(family)).to.include.members(SET_DEFINITIONS.map(({ id }) => setName(id, family)));
    }
    expect(ipvsModeSets('IPv6')).to.include.members(['KUBE-6-EXCHANGE', 'KUBE-6-EXCHANGE-2', 'KUBE-6-NODE-PORT-SCTP']);
    expect(ipvsModeSets('IPv4')).to.include.members(['KUBE-EXCHANGE', 'KUBE-EXCHANGE-2', 'KUBE-NODE-PORT-LOCAL-SCTP']);
  });

  function removed(text: string) {
    const { removals, kept } = removeIpvsMode(parseEveryTable(text) ?? new Map());
    const chains = removals.flatMap((each) => each.chains);
    return { chains, kept: kept.map(({ chain }) => chain), rules: removals.flatMap((each) => each.rules) };
  }

  it('takes the chain for source ranges of older releases for ours, and that of kubelet for its own', () => {
    const old = '-A KUBE-FIREWALL -m set --match-set KUBE-LOAD-BALANCER-SOURCE-CIDR dst,dst,src -j RETURN\n';
    const drop = '-A KUBE-FIREWALL -j KUBE-MARK-DROP\n';
    const chains = ':KUBE-FIREWALL - [0:0]\n:KUBE-MARK-DROP - [0:0]\n';
    expect(removed(`*nat\n${chains}${old}${drop}COMMIT\n`).chains).to.deep.equal(['KUBE-FIREWALL']);
    expect(removed(`*nat\n${chains}${drop}COMMIT\n`).chains).to.deep.equal([]);
    expect(removed(`*nat\n${chains}${old}-A KUBE-FIREWALL -j ACCEPT\nCOMMIT\n`).chains).to.deep.equal([]);
    expect(removed(`*filter\n${chains}${old}${drop}COMMIT\n`).chains).to.deep.equal([]);
  });

  it('takes only what has nothing but a remark of kube-proxy for a rule of ours', () => {
    const lead = (rule: string) =>
      removed(`*nat\n:OUTPUT - [0:0]\n:KUBE-SERVICES - [0:0]\n-A OUTPUT ${rule}\nCOMMIT\n`);
    expect(lead('-m comment --comment "kubernetes service portals" -j KUBE-SERVICES').rules).to.have.lengthOf(1);
    for (const rule of [
      '-j KUBE-SERVICES',
      '-i eth1 -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      '-m comment --comment "made by hand" -j KUBE-SERVICES',
    ]) {
      expect(lead(rule), rule).to.deep.equal({ chains: [], kept: ['KUBE-SERVICES'], rules: [] });
    }
  });

  it('leaves the chains of both modes to iptables mode where that has filled them, without what looks into our sets', () => {
    const text = `*nat
:PREROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-LOAD-BALANCER - [0:0]
:KUBE-NODEPORTS - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -m set --match-set KUBE-LOAD-BALANCER dst,dst -j KUBE-LOAD-BALANCER
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ
COMMIT
`;
    expect(removed(text)).to.deep.equal({
      chains: ['KUBE-LOAD-BALANCER'],
      kept: ['KUBE-SERVICES', 'KUBE-MARK-MASQ', 'KUBE-POSTROUTING'],
      rules: [{ chain: 'KUBE-SERVICES', rule: '-m set --match-set KUBE-LOAD-BALANCER dst,dst -j KUBE-LOAD-BALANCER' }],
    });
  });
});
