import { expect } from 'chai';
import { cidr, ip } from '../../../test/builders/net.ts';
import { FAMILIES } from '../../net/family.ts';
import { type Match, type Rule, renderRule, type Target } from './rule.ts';

describe('kernel/iptables/rule', () => {
  const matches: readonly (readonly [Match, string, string?])[] = [
    [{ kind: 'source', of: cidr('10.0.0.0/8'), negated: false }, '-s 10.0.0.0/8'],
    [{ kind: 'source', of: cidr('10.0.0.0/8'), negated: true }, '! -s 10.0.0.0/8'],
    [{ kind: 'source', of: ip('10.9.9.9'), negated: false }, '-s 10.9.9.9/32', '-s 10.9.9.9/128'],
    [{ kind: 'destination', of: ip('10.9.9.9') }, '-d 10.9.9.9/32', '-d 10.9.9.9/128'],
    [{ kind: 'input-interface', name: 'cni0', negated: false }, '-i cni0'],
    [{ kind: 'input-interface', name: 'veth+', negated: true }, '! -i veth+'],
    [{ kind: 'protocol', protocol: 'TCP' }, '-p tcp'],
    [{ kind: 'protocol', protocol: 'SCTP' }, '-p sctp'],
    [{ kind: 'comment', text: 'kubernetes service lb portal' }, '-m comment --comment "kubernetes service lb portal"'],
    [
      { kind: 'comment', text: `type 'hash ip:port' "\\"` },
      `-m comment --comment "type \\'hash ip:port\\' \\"\\\\\\""`,
    ],
    [{ kind: 'set', name: 'KUBE-CLUSTER-IP', directions: 'dst,dst' }, '-m set --match-set KUBE-CLUSTER-IP dst,dst'],
    [{ kind: 'not-from-bridge' }, '-m physdev ! --physdev-is-in'],
    [{ kind: 'source-local', negated: true }, '-m addrtype ! --src-type LOCAL'],
    [{ kind: 'source-local', negated: false }, '-m addrtype --src-type LOCAL'],
    [{ kind: 'echo-request' }, '-p icmp -m icmp --icmp-type 8', '-p ipv6-icmp -m icmp6 --icmpv6-type 128'],
    [{ kind: 'destination-local' }, '-m addrtype --dst-type LOCAL'],
    [{ kind: 'mark', mark: 0x4000, negated: false }, '-m mark --mark 0x4000/0x4000'],
    [{ kind: 'mark', mark: 2 ** 31, negated: true }, '-m mark ! --mark 0x80000000/0x80000000'],
    [{ kind: 'state', states: 'RELATED,ESTABLISHED' }, '-m conntrack --ctstate RELATED,ESTABLISHED'],
    [{ kind: 'new-to-port', port: 30080 }, '-m conntrack --ctstate NEW --ctorigdstport 30080'],
    [
      { kind: 'ipvs', address: ip('10.9.9.9'), protocol: 'UDP', port: 53 },
      '-m ipvs --vproto 17 --vaddr 10.9.9.9 --vport 53',
    ],
  ];
  for (const [match, ipv4, ipv6 = ipv4] of matches) {
    it(`writes the match ${ipv4}`, () => {
      const rule: Rule = { matches: [match], target: { kind: 'accept' } };
      expect(FAMILIES.map((family) => renderRule(rule, family))).to.deep.equal([
        `${ipv4} -j ACCEPT`,
        `${ipv6} -j ACCEPT`,
      ]);
    });
  }

  const targets: readonly (readonly [Target, string, string?])[] = [
    [{ kind: 'accept' }, '-j ACCEPT'],
    [{ kind: 'return' }, '-j RETURN'],
    [{ kind: 'drop' }, '-j DROP'],
    [
      { kind: 'reject' },
      '-j REJECT --reject-with icmp-port-unreachable',
      '-j REJECT --reject-with icmp6-port-unreachable',
    ],
    [{ kind: 'reset' }, '-j REJECT --reject-with tcp-reset'],
    [{ kind: 'jump', chain: 'KUBE-MARK-MASQ' }, '-j KUBE-MARK-MASQ'],
    [{ kind: 'set-mark', mark: 0x4000 }, '-j MARK --set-xmark 0x4000/0x4000'],
    [{ kind: 'clear-mark', mark: 0x4000 }, '-j MARK --set-xmark 0x4000/0x0'],
    [{ kind: 'set-mark', mark: 1 }, '-j MARK --set-xmark 0x1/0x1'],
    [{ kind: 'masquerade', randomFully: true }, '-j MASQUERADE --random-fully'],
    [{ kind: 'masquerade', randomFully: false }, '-j MASQUERADE'],
  ];
  for (const [target, ipv4, ipv6 = ipv4] of targets) {
    it(`writes the target ${ipv4}`, () => {
      expect(FAMILIES.map((family) => renderRule({ matches: [], target }, family))).to.deep.equal([ipv4, ipv6]);
    });
  }

  it('writes matches in the order given and the target last', () => {
    const rule: Rule = {
      matches: [
        { kind: 'protocol', protocol: 'UDP' },
        { kind: 'comment', text: 'a' },
        { kind: 'set', name: 'KUBE-6-NODE-PORT-UDP', directions: 'dst' },
      ],
      target: { kind: 'jump', chain: 'KUBE-MARK-MASQ' },
    };
    expect(renderRule(rule, 'IPv6')).to.equal(
      '-p udp -m comment --comment "a" -m set --match-set KUBE-6-NODE-PORT-UDP dst -j KUBE-MARK-MASQ',
    );
  });
});
