import { expect } from 'chai';
import { ip, port } from '../builders/net.ts';
import { packet } from './fixtures.ts';
import { matches } from './match.ts';
import type { Packet } from './packet.ts';
import { parseRule } from './rule.ts';

describe('test/trace/match', () => {
  const viaServer = { protocol: 'TCP', address: ip('172.20.1.1'), port: port(80) } as const;
  const rows: readonly (readonly [string, Partial<Packet>, boolean])[] = [
    ['-s 198.51.100.0/24', {}, true],
    ['-s 198.51.100.8/32', {}, false],
    ['! -s 198.51.100.8/32', {}, true],
    ['-d 172.20.0.0/16', {}, true],
    ['-i eth0', {}, true],
    ['-i eth', {}, false],
    ['-i eth+', {}, true],
    ['! -i eth+', {}, false],
    ['! -i veth+', {}, true],
    ['-i eth0', { inputInterface: undefined }, false],
    ['! -i eth0', { inputInterface: undefined }, true],
    ['-p tcp', {}, true],
    ['-p udp', {}, false],
    ['! -p udp', {}, true],
    ['-p tcp -m tcp --dport 80', {}, true],
    ['-p tcp -m tcp --dport 81', {}, false],
    ['-p tcp -m tcp ! --dport 81', {}, true],
    ['-p icmp -m icmp --icmp-type 8', {}, false],
    ['-p icmp -m icmp --icmp-type 8', { protocol: 'ICMP', port: 0 }, true],
    ['-m comment --comment "never mind"', {}, true],
    ['-m set --match-set YES dst', {}, true],
    ['-m set --match-set NO dst', {}, false],
    ['-m set ! --match-set NO dst', {}, true],
    ['-m set --match-set YES dst -m set --match-set NO dst', {}, false],
    ['-m physdev ! --physdev-is-in', {}, true],
    ['-m physdev ! --physdev-is-in', { fromBridgePort: true }, false],
    ['-m addrtype --src-type LOCAL', {}, false],
    ['-m addrtype ! --src-type LOCAL', {}, true],
    ['-m addrtype --src-type LOCAL', { source: ip('172.20.1.1') }, true],
    ['-m addrtype --dst-type LOCAL', {}, true],
    ['-m addrtype ! --src-type LOCAL --dst-type LOCAL', {}, true],
    ['-m mark --mark 0x4000/0x4000', {}, false],
    ['-m mark --mark 0x4000/0x4000', { mark: 0xc001 }, true],
    ['-m mark ! --mark 0x4000/0x4000', {}, true],
    ['-m mark --mark 0x80000000/0x80000000', { mark: 2 ** 31 }, true],
    ['-m conntrack --ctstate NEW', {}, true],
    ['-m conntrack --ctstate NEW', { state: 'ESTABLISHED' }, false],
    ['-m conntrack --ctstate RELATED,ESTABLISHED', { state: 'ESTABLISHED' }, true],
    ['-m conntrack ! --ctstate NEW', {}, false],
    ['-m ipvs --vproto 6 --vaddr 172.20.1.1 --vport 80', {}, false],
    ['-m ipvs --vproto 6 --vaddr 172.20.1.1 --vport 80', { virtualServer: viaServer }, true],
    ['-m ipvs --vproto 17 --vaddr 172.20.1.1 --vport 80', { virtualServer: viaServer }, false],
    ['-m ipvs --vproto 6 --vaddr 172.20.1.1 --vport 81', { virtualServer: viaServer }, false],
    ['-m ipvs --vproto 6 --vaddr 172.20.1.2 --vport 80', { virtualServer: viaServer }, false],
  ];
  const context = {
    inSet: (name: string) => name === 'YES',
    isLocal: (address: string) => address === '172.20.1.1',
  };
  for (const [text, given, expected] of rows) {
    it(`${expected ? 'takes' : 'passes over'} a packet with ${JSON.stringify(given)} by "${text}"`, () => {
      const rule = parseRule(`${text} -j ACCEPT`, 'IPv4');
      expect(rule.matches.every((match) => matches(match, packet(given), context))).to.equal(expected);
    });
  }
});
