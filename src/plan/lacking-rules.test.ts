import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { server } from '../../test/builders/kernel-states.ts';
import { cidr, ip } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { applyTableChanges, diffIptables, emptyTables } from '../kernel/iptables/diff.ts';
import type { ReadTables, RuleText, TableName } from '../kernel/iptables/state.ts';
import { lackingRules } from './lacking-rules.ts';

describe('plan/lacking-rules', () => {
  const balanced = servicePort({
    loadBalancerVIPs: [ip('198.51.100.1')],
    loadBalancerSourceRanges: [cidr('10.0.0.0/8')],
  });
  const inside = { clusterCIDR: '10.180.0.0/16', elsewhere: '10.99.0.0/16' };
  const wantedWith = (range: string) =>
    desiredFor([[balanced, [endpoint()]]], { detectLocal: { kind: 'cluster-cidr', cidrs: [cidr(range)] } }).kernel
      .tables;
  const wanted = wantedWith(inside.clusterCIDR);
  const written = applyTableChanges(emptyTables(), diffIptables(emptyTables(), wanted));
  const closed = server([], { address: ip('198.51.100.1') });
  const without = (table: TableName, chain: string, isGone: (rule: RuleText) => boolean): ReadTables => {
    const rules = written[table].get(chain) ?? [];
    return {
      ...written,
      [table]: new Map(written[table]).set(
        chain,
        rules.filter((rule) => !isGone(rule)),
      ),
    };
  };

  it('finds none where all rules stand, whatever others have beside them', () => {
    const input = [...(written.filter.get('INPUT') ?? []), '-p tcp -j ACCEPT'];
    const { sets, isAbout } = lackingRules(wanted, {
      ...written,
      filter: new Map(written.filter).set('INPUT', input),
    });
    expect([...sets]).to.deep.equal([]);
    expect(isAbout(closed)).to.equal(false);
  });

  it('tells the set whose rule keeps out', () => {
    const { sets } = lackingRules(
      wanted,
      without('filter', 'KUBE-PROXY-FIREWALL', (rule) => rule.includes('-FW ')),
    );
    expect([...sets]).to.deep.equal(['KUBE-LOAD-BALANCER-FW']);
  });

  it('tells the frontend that is closed to the node', () => {
    const { sets, isAbout } = lackingRules(
      wanted,
      without('filter', 'KUBE-IPVS-OUT-FILTER', () => true),
    );
    expect([...sets]).to.deep.equal([]);
    expect([isAbout(closed), isAbout({ ...closed, protocol: 'UDP' })]).to.deep.equal([true, false]);
  });

  it('takes a rule for lacking whose chain no packet comes to', () => {
    const { sets } = lackingRules(
      wanted,
      without('filter', 'INPUT', (rule) => rule.endsWith('-j KUBE-PROXY-FIREWALL')),
    );
    expect(sets.has('KUBE-LOAD-BALANCER-FW')).to.equal(true);
    expect(sets.has('KUBE-CLUSTER-IP')).to.equal(false);
  });

  it('is content with the masquerading of another detector, but not with whom it keeps out', () => {
    expect([...lackingRules(wantedWith(inside.elsewhere), written).sets]).to.deep.equal(['KUBE-EXTERNAL-NO-LOCAL']);
  });

  it('is not content with the masquerading of the node alone, as there was no detector', () => {
    const withoutDetector = desiredFor([[balanced, [endpoint()]]], {
      detectLocal: { kind: 'cluster-cidr', cidrs: [] },
    });
    const old = applyTableChanges(emptyTables(), diffIptables(emptyTables(), withoutDetector.kernel.tables));
    expect(lackingRules(wanted, old).sets.has('KUBE-CLUSTER-IP')).to.equal(true);
    expect(lackingRules(withoutDetector.kernel.tables, written).sets.has('KUBE-CLUSTER-IP')).to.equal(false);
  });
});
