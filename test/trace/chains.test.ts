import { expect } from 'chai';
import { emptyTables } from '../../src/kernel/iptables/diff.ts';
import type { ReadTables, WantedTables } from '../../src/kernel/iptables/state.ts';
import { type BuiltInChain, ruleSet } from './chains.ts';
import { packet } from './fixtures.ts';

describe('test/trace/chains', () => {
  const context = { inSet: () => true, isLocal: () => true };
  const run = (filter: Readonly<Record<string, readonly string[]>>, input: BuiltInChain = {}) => {
    const tables: ReadTables = { ...emptyTables(), filter: new Map(Object.entries(filter)) };
    return ruleSet(tables, { INPUT: input }, 'IPv4').run('filter', 'INPUT', packet(), context);
  };

  it('accepts by policy what no rule decides', () => {
    expect(run({})).to.deep.equal({ kind: 'accept', by: 'the policy of INPUT', mark: 0 });
    expect(run({ INPUT: ['-p udp -j DROP'] })).to.deep.include({ kind: 'accept' });
  });

  it('drops by policy', () =>
    expect(run({}, { policy: 'DROP' })).to.deep.equal({ kind: 'drop', by: 'the policy of INPUT', mark: 0 }));

  it('takes the first rule that decides, and goes on behind a jump that came back', () => {
    const filter = {
      A: ['-p tcp -j RETURN', '-j DROP'],
      INPUT: ['-j A', '-j REJECT --reject-with icmp-port-unreachable', '-j ACCEPT'],
    };
    expect(run(filter)).to.deep.equal({ kind: 'reject', by: 'INPUT', mark: 0 });
    expect(run({ ...filter, A: ['-p tcp -j DROP'] })).to.deep.equal({ kind: 'drop', by: 'A', mark: 0 });
  });

  it('leaves a built-in chain to its policy at RETURN', () =>
    expect(run({ INPUT: ['-j RETURN', '-j ACCEPT'] }, { policy: 'DROP' })).to.deep.include({ kind: 'drop' }));

  it('sets bits, flips bits and goes on', () => {
    const or = '-j MARK --set-xmark 0x4000/0x4000';
    const xor = '-j MARK --set-xmark 0x4000/0x0';
    expect(run({ M: [or], INPUT: ['-j M', '-m mark --mark 0x4000/0x4000 -j ACCEPT'] })).to.deep.include({
      by: 'INPUT',
      mark: 0x4000,
    });
    expect(run({ INPUT: [or, or] }).mark).to.equal(0x4000);
    expect(run({ INPUT: [or, xor] }).mark).to.equal(0);
    expect(run({ INPUT: ['-j MARK --set-xmark 0x80000000/0xffffffff'] }).mark).to.equal(2 ** 31);
  });

  it("puts jumps where iptables does, around the administrator's rules", () => {
    const jump = (chain: string, place: 'first' | 'last') => ({ from: 'INPUT', rule: `-j ${chain}`, place });
    const none = { chains: new Map(), jumps: [], obsolete: [] };
    const chains = new Map(
      ['A', 'B', 'C'].map((name) => [name, [`-m mark --mark 0x${name.toLowerCase()}/0xff -j ACCEPT`]]),
    );
    const filter = { chains, jumps: [jump('A', 'first'), jump('B', 'first'), jump('C', 'last')], obsolete: [] };
    const tables: WantedTables = { nat: none, filter };
    const decidedBy = (mark: string, builtIn: BuiltInChain) => {
      const marked = packet({ mark: Number(mark) });
      return ruleSet(tables, { INPUT: builtIn }, 'IPv4').run('filter', 'INPUT', marked, context).by;
    };
    const marks = ['0xA', '0xB', '0xC', '0xD'];
    const by = (builtIn: BuiltInChain) => marks.map((mark) => decidedBy(mark, builtIn));
    expect(by({})).to.deep.equal(['A', 'B', 'C', 'the policy of INPUT']);
    expect(by({ before: ['-j DROP'] })).to.deep.equal(['A', 'B', 'INPUT', 'INPUT']);
    expect(by({ inserted: ['-j DROP'] })).to.deep.equal(['INPUT', 'INPUT', 'INPUT', 'INPUT']);
    expect(by({ appended: ['-j DROP'] })).to.deep.equal(['A', 'B', 'C', 'INPUT']);
  });

  const refused: readonly (readonly [string, () => unknown, string])[] = [
    ['a target that is no chain', () => run({ INPUT: ['-j DNAT'] }), 'the target DNAT'],
    ['a jump to a chain of another table', () => run({ INPUT: ['-j KUBE-SERVICES'] }), 'the target KUBE-SERVICES'],
    ['masquerading in filter', () => run({ A: ['-j MASQUERADE'] }), 'filter A cannot hold'],
    ['an unknown rule in a chain that no packet meets', () => run({ A: ['-m time --utc -j DROP'] }), 'the match time'],
    [
      'chains that lead in a circle',
      () => run({ A: ['-j B'], B: ['-j A'], INPUT: ['-j A'] }),
      'circle: INPUT, A, B, A',
    ],
    ['rules from before in tables that were read', () => run({}, { before: ['-j DROP'] }), 'in the tables already'],
    [
      'dropping in nat',
      () => ruleSet({ ...emptyTables(), nat: new Map([['PREROUTING', ['-j DROP']]]) }, {}, 'IPv4'),
      'nat PREROUTING cannot hold',
    ],
  ];
  for (const [name, act, message] of refused) {
    it(`refuses ${name}`, () => expect(act).to.throw(message));
  }
});
