import { expect } from 'chai';
import { FAMILIES } from '../../src/net/family.ts';
import { cidr } from '../builders/net.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, ELSEWHERE, POD_RANGE } from './cart.ts';
import { everyPage, page } from './pages.ts';

describe('test/reports/filter-chain', () => {
  let node: NodeUnderTest;

  /** A Service whose frontends are of every kind, closed to most. */
  beforeEach(async () => {
    const detectLocal = { kind: 'cluster-cidr', cidrs: [cidr(POD_RANGE), cidr('fd00:180::/32')] } as const;
    node = new NodeUnderTest({ settings: { detectLocal } });
    const closed = {
      clusterIPs: ['172.20.1.1', 'fd00:20::1'],
      ingress: [{ ip: '203.0.113.5' }, { ip: '2001:db8::5' }],
      externalIPs: ['198.51.100.7', '2001:db8::7'],
      loadBalancerSourceRanges: ['10.0.0.0/8', '2001:db8:1::/48'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      healthCheckNodePort: 32000,
    } as const;
    await node.apply(balancedCart(closed, [ELSEWHERE]));
  });

  it('R69: what has no virtual server at a bound address is refused, whoever asks', () => {
    for (const [family, prefix, kind] of [
      ['IPv4', 'KUBE-', 'icmp'],
      ['IPv6', 'KUBE-6-', 'icmp6'],
    ] as const) {
      const rules = node.rules('filter', 'KUBE-IPVS-FILTER', family);
      expect(rules.at(-1)).to.equal(
        `-m conntrack --ctstate NEW -m set --match-set ${prefix}IPVS-IPS dst -j REJECT --reject-with ${kind}-port-unreachable`,
      );
      const jumps = node.rules('filter', 'INPUT', family).filter((rule) => rule.endsWith('-j KUBE-IPVS-FILTER'));
      expect(jumps).to.deep.equal(['-m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER']);
    }
    const guarded = ['KUBE-IPVS-IPS', 'KUBE-6-IPVS-IPS'].flatMap((name) => node.set(name) ?? []);
    expect(guarded.sort()).to.deep.equal(node.bound());
  });

  it('R70: an echo request to a bound address is answered, whatever kind of address it is', () => {
    for (const [family, echo] of [
      ['IPv4', '-p icmp -m icmp --icmp-type 8'],
      ['IPv6', '-p ipv6-icmp -m icmp6 --icmpv6-type 128'],
    ] as const) {
      const rules = node.rules('filter', 'KUBE-IPVS-FILTER', family);
      expect(rules.indexOf(`${echo} -j RETURN`), family).to.be.within(0, rules.length - 2);
    }
  });

  it('R70: the documentation says what becomes of echo requests', () =>
    expect(everyPage()).to.match(/\becho requests?\b/i));

  it('R73: every chain that rejects or drops is on the documented list, and no other is', () => {
    const closing = FAMILIES.flatMap((family) => {
      const rules = node.kernel.tables[family].save().split('\n');
      return rules.flatMap((rule) => /^-A (\S+) .*-j (?:REJECT|DROP)\b/.exec(rule)?.[1] ?? []);
    });
    const documented = page('reference/kernel-objects.md')
      .split(/(?=\| (?:nat|filter) `KUBE-)/)
      .flatMap((row) => (/\b(drop|reject)\b/.test(row) ? (/^\| \w+ `(\S+)`/.exec(row)?.[1] ?? []) : []));
    expect([...new Set(closing)].sort()).to.deep.equal([...new Set(documented)].sort());
    expect(new Set(closing)).to.deep.equal(
      new Set(['KUBE-PROXY-FIREWALL', 'KUBE-SOURCE-RANGES-FIREWALL', 'KUBE-IPVS-FILTER', 'KUBE-IPVS-OUT-FILTER']),
    );
  });
});
