import { expect } from 'chai';
import { FAMILIES } from '../../src/net/family.ts';
import { type Match, parseRule, type Target } from './rule.ts';

describe('test/trace/rule', () => {
  const conditions: readonly (readonly [string, readonly Match[] | readonly object[]])[] = [
    ['', []],
    ['-s 10.0.0.0/8', [{ kind: 'source', network: '10.0.0.0/8', negated: false }]],
    ['! -s 10.9.9.9/32', [{ kind: 'source', network: '10.9.9.9/32', negated: true }]],
    ['-d 10.0.0.0/8', [{ kind: 'destination', network: '10.0.0.0/8', negated: false }]],
    ['! -i veth+', [{ kind: 'input-interface', name: 'veth+', negated: true }]],
    ['-i eth0', [{ kind: 'input-interface', name: 'eth0', negated: false }]],
    ['-p tcp', [{ kind: 'protocol', protocol: 'TCP', negated: false }]],
    ['! -p sctp', [{ kind: 'protocol', protocol: 'SCTP', negated: true }]],
    [
      '-p udp -m udp --dport 53',
      [
        { kind: 'protocol', protocol: 'UDP', negated: false },
        { kind: 'destination-port', port: 53, negated: false },
      ],
    ],
    [
      '-p icmp -m icmp --icmp-type 8',
      [{ kind: 'protocol', protocol: 'ICMP', negated: false }, { kind: 'echo-request' }],
    ],
    [`-m comment --comment "type \\'hash ip:port\\' -j \\"x\\\\"`, []],
    ['-m comment --comment plain', []],
    ['-m set --match-set A dst,dst,src', [{ kind: 'set', name: 'A', directions: 'dst,dst,src', negated: false }]],
    [
      '-m set --match-set A dst -m set ! --match-set B src,dst',
      [
        { kind: 'set', name: 'A', directions: 'dst', negated: false },
        { kind: 'set', name: 'B', directions: 'src,dst', negated: true },
      ],
    ],
    ['-m physdev ! --physdev-is-in', [{ kind: 'from-bridge-port', negated: true }]],
    ['-m addrtype ! --src-type LOCAL', [{ kind: 'local', side: 'source', negated: true }]],
    ['-m addrtype --src-type LOCAL', [{ kind: 'local', side: 'source', negated: false }]],
    ['-m addrtype --dst-type LOCAL', [{ kind: 'local', side: 'destination', negated: false }]],
    [
      '-m addrtype --src-type LOCAL ! --dst-type LOCAL',
      [
        { kind: 'local', side: 'source', negated: false },
        { kind: 'local', side: 'destination', negated: true },
      ],
    ],
    ['-m mark ! --mark 0x4000/0x4000', [{ kind: 'mark', value: 0x4000, mask: 0x4000, negated: true }]],
    ['-m mark --mark 0x80000000/0xffffffff', [{ kind: 'mark', value: 2 ** 31, mask: 2 ** 32 - 1, negated: false }]],
    ['-m conntrack --ctstate NEW', [{ kind: 'state', states: ['NEW'], negated: false }]],
    [
      '-m conntrack --ctstate NEW --ctorigdstport 30080',
      [
        { kind: 'state', states: ['NEW'], negated: false },
        { kind: 'destination-port', port: 30080, negated: false },
      ],
    ],
    [
      '-m conntrack --ctstate RELATED,ESTABLISHED',
      [{ kind: 'state', states: ['RELATED', 'ESTABLISHED'], negated: false }],
    ],
    [
      '-m ipvs --vproto 17 --vaddr 10.9.9.9 --vport 53',
      [{ kind: 'ipvs', protocol: 'UDP', address: '10.9.9.9', port: 53 }],
    ],
  ];
  for (const [text, expected] of conditions) {
    it(`reads the conditions "${text}"`, () =>
      expect(parseRule(`${text} -j ACCEPT`.trim(), 'IPv4')).to.deep.equal({
        matches: expected,
        target: { kind: 'accept' },
      }));
  }

  const targets: readonly (readonly [string, Target])[] = [
    ['ACCEPT', { kind: 'accept' }],
    ['DROP', { kind: 'drop' }],
    ['RETURN', { kind: 'return' }],
    ['REJECT --reject-with icmp-port-unreachable', { kind: 'reject' }],
    ['MASQUERADE', { kind: 'masquerade' }],
    ['MASQUERADE --random-fully', { kind: 'masquerade' }],
    ['MARK --set-xmark 0x4000/0x0', { kind: 'set-mark', value: 0x4000, mask: 0 }],
    ['KUBE-MARK-MASQ', { kind: 'jump', chain: 'KUBE-MARK-MASQ' }],
  ];
  for (const [text, expected] of targets) {
    it(`reads the target ${text}`, () =>
      expect(parseRule(`-j ${text}`, 'IPv4')).to.deep.equal({ matches: [], target: expected }));
  }

  it('reads the forms of IPv6', () => {
    const texts = [
      '! -s fd00::/8 -p ipv6-icmp -m icmp6 --icmpv6-type 128 -j REJECT --reject-with icmp6-port-unreachable',
      '-s fd00::1/128 -m ipvs --vproto 6 --vaddr fd00::1 --vport 80 -j DROP',
    ];
    expect(texts.map((text) => parseRule(text, 'IPv6').matches.map(({ kind }) => kind))).to.deep.equal([
      ['source', 'protocol', 'echo-request'],
      ['source', 'ipvs'],
    ]);
    for (const text of texts) expect(() => parseRule(text, 'IPv4')).to.throw(text);
  });

  it('reads a rejection by a reset, of TCP alone', () => {
    const text = '-p tcp -m set --match-set KUBE-IPVS-IPS dst -j REJECT --reject-with tcp-reset';
    expect(parseRule(text, 'IPv6').target).to.deep.equal({ kind: 'reject' });
    expect(() => parseRule(text.replace('tcp', 'udp'), 'IPv6')).to.throw('without its -p');
  });

  const refused = [
    '',
    '-s 10.0.0.0/8',
    '-j',
    '-j ACCEPT -j DROP',
    '-j REJECT',
    '-j REJECT --reject-with tcp-reset',
    '-j MARK --set-mark 0x1',
    '-j MARK --set-xmark 1/1',
    '-j MASQUERADE --to-ports 1024-2048',
    '-j DNAT --to-destination 10.0.0.1',
    '-g KUBE-SERVICES',
    '! -j ACCEPT',
    '-s 10.0.0.1/8 -j ACCEPT',
    '-s 10.0.0.0/255.0.0.0 -j ACCEPT',
    '-o eth0 -j ACCEPT',
    '-f -j ACCEPT',
    '-p esp -j ACCEPT',
    '-p ipv6-icmp -j ACCEPT',
    '-m icmp --icmp-type 8 -j ACCEPT',
    '-p icmp -m icmp --icmp-type 0 -j ACCEPT',
    '-p udp -m tcp --dport 53 -j ACCEPT',
    '-p tcp -m tcp --sport 53 -j ACCEPT',
    '-p tcp -m tcp --dport 1:1024 -j ACCEPT',
    '-p tcp -m multiport --dports 80,443 -j ACCEPT',
    '! -m set --match-set A dst -j ACCEPT',
    '-m set --match-set A dst --return-nomatch -j ACCEPT',
    '-m physdev --physdev-in eth0 -j ACCEPT',
    '-m addrtype --dst-type BROADCAST -j ACCEPT',
    '-m addrtype --dst-type LOCAL --limit-iface-in -j ACCEPT',
    '-m mark --mark 0x4000 -j ACCEPT',
    '-m conntrack --ctstate DNAT -j ACCEPT',
    '-m conntrack --ctdir ORIGINAL -j ACCEPT',
    '-m ipvs --vdir ORIGINAL -j ACCEPT',
    '-m ipvs --vproto 50 --vaddr 10.9.9.9 --vport 53 -j ACCEPT',
    '-m ipvs --vproto 6 --vaddr 10.9.9.0/24 --vport 53 -j ACCEPT',
    '-m ipvs --vproto 6 --vaddr 10.9.9.9 -j ACCEPT',
    '-m limit --limit 5/sec -j ACCEPT',
    '-m comment --comment "open -j ACCEPT',
    '-m comment --comment two words -j ACCEPT',
  ];
  for (const text of refused) {
    it(`refuses "${text}"`, () => expect(() => parseRule(text, 'IPv4')).to.throw('the tracer'));
  }

  for (const family of FAMILIES) {
    it(`names the rule that it refuses in ${family}`, () =>
      expect(() => parseRule('-m time --timestart 08:00 -j ACCEPT', family)).to.throw(
        'the match time --timestart in the rule: -m time --timestart 08:00 -j ACCEPT',
      ));
  }
});
