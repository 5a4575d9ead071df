import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryTables } from '../../../test/kernel/memory-tables.ts';
import { applyTableChanges, diffIptables, emptyTables } from './diff.ts';
import { parseTables } from './parse.ts';
import { renderTableChanges, renderTables } from './render.ts';
import type { Jump, ReadTables, RuleText, WantedTable, WantedTables } from './state.ts';

const CHAINS = ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ'];
const BUILT_IN = ['INPUT', 'OUTPUT'];

describe('kernel/iptables/diff', () => {
  it('leads from any rules to any other, in memory and in the kernel, and then has nothing to do', () =>
    fc.assert(
      fc.property(fc.array(anyTables(), { minLength: 2, maxLength: 4 }), (states) => {
        const kernel = new MemoryTables(() => true);
        kernel.restore('*filter\n-I INPUT -s 192.168.0.0/16 -j ACCEPT\nCOMMIT\n');
        for (const wanted of states) {
          const known = readAll(kernel);
          const changes = diffIptables(known, wanted);
          expect(kernel.restore(renderTableChanges(changes))).to.deep.equal({ stderr: '', exitCode: 0 });
          const after = readAll(kernel);
          expect(applyTableChanges(known, changes)).to.deep.equal(after);
          for (const table of ['nat', 'filter'] as const) {
            for (const [chain, rules] of wanted[table].chains) expect(after[table].get(chain)).to.deep.equal(rules);
            for (const { from, rule } of wanted[table].jumps) {
              expect(after[table].get(from)?.filter((present) => present === rule)).to.deep.equal([rule]);
            }
          }
          expect(after.filter.get('INPUT')).to.include('-s 192.168.0.0/16 -j ACCEPT');
          expect(diffIptables(after, wanted)).to.deep.equal([]);
        }
      }),
    ));

  it('reads back whatever was written to an empty kernel', () =>
    fc.assert(
      fc.property(anyTables(), (wanted) => {
        const kernel = new MemoryTables(() => true);
        kernel.restore(renderTables(wanted));
        for (const table of ['nat', 'filter'] as const) {
          const { chains, jumps } = wanted[table];
          const read = readAll(kernel)[table];
          expect([...read].filter(([name]) => chains.has(name))).to.have.deep.members([...chains]);
          for (const from of BUILT_IN) {
            const inserted = jumps.filter((jump) => jump.from === from).map(({ rule }) => rule);
            expect(read.get(from)).to.deep.equal(inserted.reverse());
          }
        }
      }),
    ));

  const wanted: WantedTables = {
    nat: tableOf({ 'KUBE-SERVICES': ['-s 127.0.0.0/8 -j RETURN', '-j KUBE-MARK-MASQ'], 'KUBE-MARK-MASQ': [] }, [
      { from: 'OUTPUT', rule: '-j KUBE-SERVICES', place: 'first' },
    ]),
    filter: tableOf({ 'KUBE-FORWARD': ['-j ACCEPT'] }, [{ from: 'FORWARD', rule: '-j KUBE-FORWARD', place: 'first' }]),
  };
  const present: ReadTables = {
    nat: new Map([
      ['OUTPUT', ['-j DOCKER', '-j KUBE-SERVICES']],
      ['KUBE-SERVICES', ['-s 127.0.0.0/8 -j RETURN', '-j KUBE-MARK-MASQ']],
      ['KUBE-MARK-MASQ', []],
      ['DOCKER', ['-j RETURN']],
    ]),
    filter: new Map([
      ['FORWARD', ['-j KUBE-FORWARD']],
      ['KUBE-FORWARD', ['-j ACCEPT']],
    ]),
  };
  const changed = (chain: string, rules: readonly RuleText[]): ReadTables => ({
    ...present,
    nat: new Map(present.nat).set(chain, rules),
  });

  it('finds nothing to do where a jump stands behind rules of others', () =>
    expect(diffIptables(present, wanted)).to.deep.equal([]));

  const differences: readonly (readonly [string, ReadTables, readonly string[]])[] = [
    ['a rule is missing', changed('KUBE-SERVICES', ['-j KUBE-MARK-MASQ']), ['KUBE-SERVICES']],
    [
      'rules stand in another order',
      changed('KUBE-SERVICES', ['-j KUBE-MARK-MASQ', '-s 127.0.0.0/8 -j RETURN']),
      ['KUBE-SERVICES'],
    ],
    ['there is a rule too many', changed('KUBE-MARK-MASQ', ['-j DROP']), ['KUBE-MARK-MASQ']],
    ['a jump is missing', changed('OUTPUT', ['-j DOCKER']), ['OUTPUT']],
    ['an empty chain is missing', { ...present, nat: without(present.nat, 'KUBE-MARK-MASQ') }, ['KUBE-MARK-MASQ']],
    ['a built-in chain was not seen', { ...present, nat: without(present.nat, 'OUTPUT') }, ['OUTPUT']],
  ];
  for (const [name, tables, differing] of differences) {
    it(`writes all our chains of the one table anew when ${name}`, () => {
      const changes = diffIptables(tables, wanted);
      expect(changes.map(({ table }) => table)).to.deep.equal(['nat']);
      expect(changes[0]?.differing).to.deep.equal(differing);
      expect(changes[0]?.chains).to.equal(wanted.nat.chains);
      expect(changes[0]?.jumps).to.deep.equal(differing.includes('OUTPUT') ? wanted.nat.jumps : []);
    });
  }
});

function anyTables(): fc.Arbitrary<WantedTables> {
  const rule = fc.constantFrom(
    '-s 127.0.0.0/8 -j RETURN',
    '-j KUBE-MARK-MASQ',
    '-m comment --comment "a b" -j ACCEPT',
    '-p tcp -j DROP',
  );
  const chains = fc.record(Object.fromEntries(CHAINS.map((chain) => [chain, fc.array(rule, { maxLength: 3 })])));
  const jump = fc.constantFrom(
    ...BUILT_IN.flatMap((from) => CHAINS.map((chain): Jump => ({ from, rule: `-j ${chain}`, place: 'first' }))),
  );
  const table = fc
    .tuple(chains, fc.uniqueArray(jump, { maxLength: 3 }))
    .map(([rules, jumps]) => tableOf(rules as Record<string, string[]>, jumps));
  return fc.record({ nat: table, filter: table });
}

function tableOf(
  chains: Readonly<Record<string, readonly RuleText[]>>,
  jumps: readonly Jump[],
  obsolete: readonly string[] = [],
): WantedTable {
  return { chains: new Map(Object.entries(chains)), jumps, obsolete };
}

function readAll(kernel: MemoryTables): ReadTables {
  return parseTables(kernel.save()) ?? emptyTables();
}

function without<T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> {
  return new Map([...map].filter(([name]) => name !== key));
}
