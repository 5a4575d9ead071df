import { expect } from 'chai';
import type { IpSet, SetEntry } from '../../src/kernel/ipset/state.ts';
import { ip } from '../builders/net.ts';
import { packet } from './fixtures.ts';
import type { Packet } from './packet.ts';
import { setTest } from './sets.ts';

describe('test/trace/sets', () => {
  const rows: readonly (readonly [string, string, string, Partial<Packet>, boolean])[] = [
    ['hash:ip', '172.20.1.1', 'dst', {}, true],
    ['hash:ip', '172.20.1.1', 'src', {}, false],
    ['hash:ip', '198.51.100.7', 'src', {}, true],
    ['hash:ip', '172.20.1.1', 'dst', { protocol: 'ICMP', port: 0 }, true],
    ['hash:ip,port', '172.20.1.1,tcp:80', 'dst,dst', {}, true],
    ['hash:ip,port', '172.20.1.1,tcp:81', 'dst,dst', {}, false],
    ['hash:ip,port', '172.20.1.2,tcp:80', 'dst,dst', {}, false],
    ['hash:ip,port', '172.20.1.1,udp:80', 'dst,dst', {}, false],
    ['hash:ip,port', '172.20.1.1,udp:80', 'dst,dst', { protocol: 'UDP' }, true],
    ['hash:ip,port', '172.20.1.1,sctp:80', 'dst,dst', { protocol: 'SCTP' }, true],
    ['hash:ip,port', '172.20.1.1,tcp:80', 'dst,dst', { protocol: 'ICMP', port: 0 }, false],
    ['hash:ip,port', '172.20.1.1,tcp:80', 'src,dst', {}, false],
    ['hash:ip,port', '172.20.1.1,tcp:80', 'src,dst', { source: ip('172.20.1.1') }, true],
    ['hash:ip,port', '198.51.100.7,tcp:40000', 'src,src', {}, true],
    ['hash:ip,port,ip', '172.20.1.1,tcp:80,198.51.100.7', 'dst,dst,src', {}, true],
    ['hash:ip,port,ip', '172.20.1.1,tcp:80,198.51.100.8', 'dst,dst,src', {}, false],
    ['hash:ip,port,ip', '172.20.1.1,tcp:80,172.20.1.1', 'dst,dst,dst', {}, true],
    ['hash:ip,port,net', '172.20.1.1,tcp:80,198.51.100.0/24', 'dst,dst,src', {}, true],
    ['hash:ip,port,net', '172.20.1.1,tcp:80,198.51.100.7', 'dst,dst,src', {}, true],
    ['hash:ip,port,net', '172.20.1.1,tcp:80,198.51.100.8', 'dst,dst,src', {}, false],
    ['hash:ip,port,net', '172.20.1.1,tcp:80,198.51.101.0/24', 'dst,dst,src', {}, false],
    ['hash:ip,port,net', '172.20.1.1,udp:80,198.51.100.0/24', 'dst,dst,src', {}, false],
    ['bitmap:port', '80', 'dst', {}, true],
    ['bitmap:port', '80', 'dst', { protocol: 'UDP' }, true],
    ['bitmap:port', '80', 'dst', { protocol: 'SCTP' }, false],
    ['bitmap:port', '80', 'src', {}, false],
    ['bitmap:port', '40000', 'src', {}, true],
  ];
  for (const [type, entry, directions, given, expected] of rows) {
    it(`${expected ? 'finds' : 'does not find'} ${describePacket(given)} in ${type} with ${entry} by ${directions}`, () =>
      expect(testOf(setOf(type, [entry]))('S', directions, packet(given))).to.equal(expected));
  }

  it('finds an IPv6 packet in a network and by its address', () => {
    const v6 = packet({ source: ip('fd00::7'), destination: ip('fd00:20::1') });
    const test = testOf(
      setOf('hash:ip,port,net', ['fd00:20::1,tcp:80,fd00::/64', 'fd00:20::1,tcp:81,fd00::7'], 'IPv6'),
      'IPv6',
    );
    const at = (port: number) => test('S', 'dst,dst,src', { ...v6, port });
    expect([80, 81, 82].map(at)).to.deep.equal([true, true, false]);
  });

  const refused: readonly (readonly [string, IpSet, string, string])[] = [
    ['an unknown type', setOf('hash:net', ['10.0.0.0/8']), 'dst', 'does not know'],
    ['a list of sets', setOf('list:set', []), 'dst', 'does not know the type'],
    ['another family', setOf('hash:ip', [], 'IPv6'), 'dst', 'is of IPv6'],
    ['entries that do not match', { ...setOf('hash:ip', []), oddities: ['nomatch'] }, 'dst', 'nomatch'],
    ['too few directions', setOf('hash:ip,port', []), 'dst', 'is asked for dst'],
    ['too many directions', setOf('bitmap:port', []), 'dst,dst', 'is asked for dst,dst'],
    ['unknown directions', setOf('hash:ip', []), 'dest', 'directions dest'],
    ['an entry of too few elements', setOf('hash:ip,port', ['10.0.0.1']), 'dst,dst', '10.0.0.1'],
    ['an entry of too many elements', setOf('hash:ip', ['10.0.0.1,tcp:80']), 'dst', 'tcp:80'],
    ['an entry with a protocol by number', setOf('hash:ip,port', ['10.0.0.1,6:80']), 'dst,dst', '6:80'],
    ['an entry with a range', setOf('bitmap:port', ['80-90']), 'dst', '80-90'],
    ['an entry of the other family', setOf('hash:ip', ['fd00::1']), 'dst', 'fd00::1'],
    [
      'a network with host bits',
      setOf('hash:ip,port,net', ['10.0.0.1,tcp:80,10.0.0.1/8']),
      'dst,dst,src',
      '10.0.0.1/8',
    ],
  ];
  for (const [name, set, directions, message] of refused) {
    it(`refuses ${name}`, () => expect(() => testOf(set)('S', directions, packet())).to.throw(message));
  }

  it('refuses a set that is not there', () =>
    expect(() => setTest(new Map(), 'IPv4')('KUBE-NONE', 'dst', packet())).to.throw('KUBE-NONE, which is not there'));
});

function testOf(set: IpSet, family: 'IPv4' | 'IPv6' = 'IPv4') {
  return setTest(new Map([[set.name, set]]), family);
}

function setOf(type: string, entries: readonly string[], family: 'IPv4' | 'IPv6' = 'IPv4'): IpSet {
  const hash = type.startsWith('hash:');
  return {
    name: 'S',
    type,
    family: hash ? family : undefined,
    maxEntries: hash ? 65536 : undefined,
    oddities: [],
    entries: new Set(entries as readonly SetEntry[]),
  };
}

function describePacket(given: Partial<Packet>): string {
  return Object.keys(given).length === 0 ? 'a TCP packet' : JSON.stringify(given);
}
