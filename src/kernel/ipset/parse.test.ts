import { expect } from 'chai';
import fc from 'fast-check';
import { anySets } from '../../../test/builders/kernel-states.ts';
import { MemoryIpsets } from '../../../test/kernel/memory-ipset.ts';
import { FAMILIES } from '../../net/family.ts';
import { parseIpsetSave } from './parse.ts';
import { renderIpsetState } from './render.ts';
import type { IpsetState } from './state.ts';

describe('kernel/ipset/parse', () => {
  for (const family of FAMILIES) {
    it(`reads back any ${family} state that was written`, () =>
      fc.assert(
        fc.property(anySets(family), (sets) => expectSame(parseIpsetSave(renderIpsetState(sets)), sets)),
        { numRuns: 300 },
      ));

    it(`reads back any ${family} state that the kernel holds after it was written`, () =>
      fc.assert(
        fc.property(anySets(family), (sets) => {
          const kernel = new MemoryIpsets();
          expect(kernel.restore(renderIpsetState(sets))).to.deep.equal({ stderr: '', exitCode: 0 });
          expectSame(parseIpsetSave(kernel.save()), sets);
        }),
      ));
  }

  it('reads what ipset prints, with options that we never set and sets of others', () => {
    const text = `create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x4b5a0b38
add KUBE-CLUSTER-IP 172.20.1.1,tcp:80
add KUBE-CLUSTER-IP 172.20.1.1,udp:53
create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
add KUBE-NODE-PORT-TCP 30080
create cali40s hash:net family inet6 hashsize 1024 maxelem 1048576 timeout 60 comment bucketsize 12 initval 0x1
add cali40s fd00::/64 timeout 3 comment "one word"
create all list:set size 8
add all cali40s
`;
    const entries = [...(parseIpsetSave(text) ?? [])].map(([name, set]) => [
      name,
      set.type,
      set.family,
      set.maxEntries,
      ...set.entries,
    ]);
    expect(entries).to.deep.equal([
      ['KUBE-CLUSTER-IP', 'hash:ip,port', 'IPv4', 65536, '172.20.1.1,tcp:80', '172.20.1.1,udp:53'],
      ['KUBE-NODE-PORT-TCP', 'bitmap:port', undefined, undefined, '30080'],
      ['cali40s', 'hash:net', 'IPv6', 1048576, 'fd00::/64'],
      ['all', 'list:set', undefined, undefined, 'cali40s'],
    ]);
  });

  const protocols: readonly (readonly [string, string])[] = [
    ['172.20.1.1,6:80', '172.20.1.1,tcp:80'],
    ['fd00::1,17:53', 'fd00::1,udp:53'],
    ['fd00::1,132:80,fd00::1', 'fd00::1,sctp:80,fd00::1'],
    ['fd00::1,tcp:80,6::/16', 'fd00::1,tcp:80,6::/16'],
    ['fd00::1,6:80,17:0:1::/64', 'fd00::1,tcp:80,17:0:1::/64'],
    ['fd00::1,tcp:80,132::', 'fd00::1,tcp:80,132::'],
  ];
  for (const [written, read] of protocols) {
    it(`reads entry ${written} as ${read}`, () => {
      const text = `create a hash:ip,port,net family inet6 hashsize 1024 maxelem 9\nadd a ${written}\n`;
      expect([...(parseIpsetSave(text)?.get('a')?.entries ?? [])]).to.deep.equal([read]);
    });
  }

  const odd: readonly (readonly [string, string, readonly string[]])[] = [
    ['entries that time out', 'create s hash:ip family inet hashsize 1024 maxelem 65536 timeout 60', ['timeout 60']],
    [
      'entries that are networks',
      'create s hash:ip family inet hashsize 1024 maxelem 65536 netmask 24',
      ['netmask 24'],
    ],
    ['another range', 'create s bitmap:port range 1-1024', ['range 1-1024']],
    [
      'entries that mean the opposite',
      'create s hash:ip,port,net family inet maxelem 65536\nadd s 1.1.1.1,tcp:80,10.0.0.0/8 nomatch\nadd s 1.1.1.1,tcp:80,9.0.0.0/8 nomatch',
      ['nomatch'],
    ],
    ['nothing but counters and comments', 'create s bitmap:port range 0-65535 counters comment', []],
  ];
  for (const [what, text, oddities] of odd) {
    it(`tells a set with ${what}`, () =>
      expect(parseIpsetSave(`${text}\n`)?.get('s')?.oddities).to.deep.equal(oddities));
  }

  it('reads an empty text as no set', () => expect(parseIpsetSave('')).to.deep.equal(new Map()));

  for (const text of [
    'Name: KUBE-CLUSTER-IP',
    'add KUBE-CLUSTER-IP 172.20.1.1,tcp:80',
    'create a bitmap:port\nadd a',
    'del a 1',
    'flush a',
  ]) {
    it(`does not understand ${JSON.stringify(text)}`, () => expect(parseIpsetSave(`${text}\n`)).to.equal(undefined));
  }

  it('reads an IPv6 address with a dotted end as the one that is meant', () => {
    const text =
      'create s hash:ip,port,ip family inet6 hashsize 1024 maxelem 65536\nadd s ::1.2.3.4,tcp:80,::1.2.3.4\n';
    expect([...(parseIpsetSave(text)?.get('s')?.entries ?? [])]).to.deep.equal(['::102:304,tcp:80,::102:304']);
  });
});

function expectSame(read: IpsetState | undefined, wanted: IpsetState): void {
  const plain = (sets: IpsetState) =>
    Object.fromEntries([...sets].map(([name, set]) => [name, { ...set, entries: [...set.entries].sort() }]));
  expect(read && plain(read)).to.deep.equal(plain(wanted));
}
