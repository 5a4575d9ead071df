import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { cidr, ip } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { ProxySettings } from '../desired/settings.ts';
import type { ReadTables, WantedTables } from '../kernel/iptables/state.ts';
import { withStandingRules } from './standing-rules.ts';

const MARK_ALL = `${portal('dst,dst')} -j KUBE-MARK-MASQ`;
const MARK_NODE = `${portal('src,dst')} -j KUBE-MARK-MASQ`;
const DETECTED: Partial<ProxySettings> = { detectLocal: { kind: 'cluster-cidr', cidrs: [cidr('10.180.0.0/16')] } };
const MARK_OUTSIDE = `! -s 10.180.0.0/16 ${MARK_ALL}`;

describe('plan/standing-rules', () => {
  const changes: readonly (readonly [string, Partial<ProxySettings>, Partial<ProxySettings>, readonly string[]])[] = [
    ['masqueradeAll is turned off', { masqueradeAll: true }, {}, [MARK_ALL, MARK_NODE]],
    ['masqueradeAll is turned on', {}, { masqueradeAll: true }, [MARK_NODE, MARK_ALL]],
    ['a detector comes', {}, DETECTED, [MARK_NODE, MARK_OUTSIDE]],
    ['a detector goes', DETECTED, {}, [MARK_OUTSIDE, MARK_NODE]],
  ];
  for (const [name, before, after, expected] of changes) {
    it(`masquerades what either state does while ${name}, before anything is accepted`, () => {
      const both = withStandingRules(tablesFor(after), read(tablesFor(before)));
      const rules = both.nat.chains.get('KUBE-SERVICES') ?? [];
      const ofClusterIP = rules.filter((rule) => rule.includes('KUBE-CLUSTER-IP '));
      expect(ofClusterIP.slice(0, -1)).to.have.members(expected);
      expect(ofClusterIP.at(-1)).to.equal('-m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT');
      expect(rules[0]).to.equal('-s 127.0.0.0/8 -j RETURN');
    });
  }

  it('keeps out whom either state keeps out', () => {
    const both = withStandingRules(tablesFor({}), read(tablesFor(DETECTED)));
    const drops = (tables: WantedTables) => tables.filter.chains.get('KUBE-PROXY-FIREWALL') ?? [];
    expect(drops(both)).to.deep.equal(drops(tablesFor(DETECTED)));
    expect(drops(both).length).to.equal(drops(tablesFor({})).length + 1);
  });

  it('keeps the node out of what it was kept out of, in the order in which the rules stand', () => {
    const chain = 'KUBE-IPVS-OUT-FILTER';
    const closed = [1, 2, 3].map((last) =>
      servicePort({
        name: `shop/s${last}`,
        clusterIP: ip(`172.20.1.${last}`),
        loadBalancerVIPs: [ip(`203.0.113.${last}`)],
        loadBalancerSourceRanges: [cidr('9.0.0.0/8')],
      }),
    );
    const all = desiredFor(closed.map((each) => [each, []])).kernel.tables;
    const some = desiredFor(closed.filter((_, index) => index !== 1).map((each) => [each, []])).kernel.tables;
    const rules = all.filter.chains.get(chain);
    expect(rules?.length).to.equal(3);
    expect(withStandingRules(some, read(all)).filter.chains.get(chain)).to.deep.equal(rules);
  });

  it('keeps very many rules in their order at no more cost than their number', () => {
    const rules = Array.from({ length: 100_000 }, (_, index) => {
      const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
      return `-s ${address}/32 -m ipvs --vproto 6 --vaddr ${address} --vport 80 -j DROP`;
    });
    const wanted = tablesFor({});
    const filter = new Map(wanted.filter.chains).set('KUBE-IPVS-OUT-FILTER', rules);
    const both = withStandingRules(wanted, { ...read(wanted), filter });
    expect(both.filter.chains.get('KUBE-IPVS-OUT-FILTER')).to.deep.equal(rules);
  });

  it('keeps nothing else: no rules of others, none that open, none that name other marks', () => {
    const wanted = tablesFor({});
    const present = read(tablesFor({ masqueradeBit: 9, randomFully: false }));
    const nat = new Map(present.nat)
      .set('KUBE-SERVICES', ['-d 9.9.9.9/32 -j KUBE-MARK-MASQ', `${portal('dst,dst')} -j ACCEPT`])
      .set('KUBE-SVC-X', ['-j KUBE-MARK-MASQ']);
    const filter = new Map(present.filter).set('KUBE-PROXY-FIREWALL', ['-d 9.9.9.9/32 -j DROP']);
    expect(withStandingRules(wanted, { nat, filter })).to.deep.equal(wanted);
  });
});

function portal(directions: string): string {
  const comment = '"Kubernetes service cluster ip + port for masquerade purpose"';
  return `-m comment --comment ${comment} -m set --match-set KUBE-CLUSTER-IP ${directions}`;
}

function tablesFor(settings: Partial<ProxySettings>): WantedTables {
  return desiredFor([[servicePort(), [endpoint()]]], settings).kernel.tables;
}

/** As the kernel shows them once they are written. */
function read({ nat, filter }: WantedTables): ReadTables {
  return { nat: nat.chains, filter: filter.chains };
}
