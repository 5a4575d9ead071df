import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { checkTables } from './check-tables.ts';
import type { NodeFacts } from './facts.ts';
import { HEALTHY, inShort, ipvs, withSettings } from './facts-fixture.ts';

describe('doctor/check-tables', () => {
  const tracked = (count: string) =>
    withSettings({ 'net/netfilter/nf_conntrack_count': count, 'net/netfilter/nf_conntrack_max': '1000' });
  const connections = (count: number) => ({ ...HEALTHY, ipvs: succeed(ipvs([], { connections: count })) });
  const reals = [
    'TCP  0A600047:0050 rr ',
    ...[1, 2, 3].map((n) => `  -> 0AB4000${n}:1F90      Masq    1      0          0`),
  ];
  const cases: readonly (readonly [name: string, NodeFacts, readonly string[]])[] = [
    ['finds nothing on a healthy node', HEALTHY, []],
    ['lets the table of tracked connections be filled to three quarters', tracked('749'), []],
    ['warns from there on', tracked('750'), ['warning conntrack-full']],
    ['takes it for broken when it is about to drop', tracked('950'), ['error conntrack-full']],
    [
      'has nothing to say of a kernel that tracks nothing',
      withSettings({ 'net/netfilter/nf_conntrack_count': undefined, 'net/netfilter/nf_conntrack_max': undefined }),
      [],
    ],
    [
      'says so of a table that it cannot read',
      { ...HEALTHY, sysctls: new Map() },
      ['not checked: the table of tracked connections'],
    ],
    ['lets buckets have some connections each', connections(8 * 4096), []],
    ['warns of more', connections(8 * 4096 + 1), ['warning connection-table-small']],
    [
      'says so of buckets that it cannot count',
      { ...HEALTHY, ipvs: succeed(ipvs([], { tableBits: fail('EACCES') })) },
      ['not checked: buckets of the table of IPVS connections'],
    ],
    [
      'notes more endpoints than neighbours',
      { ...withSettings({ 'net/ipv4/neigh/default/gc_thresh3': '3' }), ipvs: succeed(ipvs(reals)) },
      ['note neighbours-many'],
    ],
    ['notes a small backlog', withSettings({ 'net/core/somaxconn': '128' }), ['note backlog-small']],
  ];
  for (const [name, facts, expected] of cases) {
    it(name, () => expect(inShort(checkTables(facts))).to.deep.equal(expected));
  }
});
