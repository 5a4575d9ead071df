import { expect } from 'chai';
import { parseEveryTable } from '../kernel/iptables/parse.ts';
import { removeFromTables, renderTableRemovals, targetOf } from './table-removal.ts';

/** Owns the chains whose names begin with `OWN`, and what leads to them with the remark `mine`. */
function remove(rules: readonly string[], chains: readonly string[], stays: Readonly<Record<string, string>> = {}) {
  const text = ['*nat', ...chains.map((chain) => `:${chain} - [0:0]`), ...rules, 'COMMIT', ''].join('\n');
  return removeFromTables(parseEveryTable(text) ?? new Map(), {
    isOwnChain: (_, chain) => chain.startsWith('OWN') || chain === 'KUBE-MARK-MASQ' || chain === 'KUBE-POSTROUTING',
    staysBecause: (_, chain) => stays[chain],
    isOwnJump: ({ rule }) => rule.includes('mine'),
    isOwnRule: ({ rule }) => rule.includes('obsolete'),
  });
}

describe('cleanup/table-removal', () => {
  const leads = (to: string) => `-m comment --comment mine -j ${to}`;

  it('removes own chains and the rules that lead to them, and nothing else', () => {
    const { removals, kept } = remove(
      ['-A OUTPUT -j THEIRS', `-A OUTPUT ${leads('OWN-1')}`, '-A OWN-1 -j OWN-2', '-A OWN-2 -j DROP'],
      ['OUTPUT', 'OWN-1', 'OWN-2', 'THEIRS'],
    );
    expect(kept).to.deep.equal([]);
    expect(renderTableRemovals(removals)).to.equal(`*nat
:OWN-1 - [0:0]
:OWN-2 - [0:0]
-D OUTPUT -m comment --comment mine -j OWN-1
-X OWN-1
-X OWN-2
COMMIT
`);
  });

  it('removes a rule as often as it is there', () => {
    const { removals } = remove([`-A OUTPUT ${leads('OWN-1')}`, `-A OUTPUT ${leads('OWN-1')}`], ['OUTPUT', 'OWN-1']);
    expect(renderTableRemovals(removals).match(/^-D OUTPUT /gm)).to.have.lengthOf(2);
  });

  it('empties a chain that a rule of others leads to, and enters it no more itself', () => {
    const { removals, kept } = remove(
      [`-A OUTPUT ${leads('OWN-1')}`, '-A THEIRS -g OWN-1', '-A OWN-1 -j DROP'],
      ['OUTPUT', 'OWN-1', 'THEIRS'],
    );
    expect(kept).to.deep.equal([{ table: 'nat', chain: 'OWN-1', why: 'a rule of chain THEIRS leads to it' }]);
    expect(renderTableRemovals(removals)).to.equal(
      '*nat\n:OWN-1 - [0:0]\n-D OUTPUT -m comment --comment mine -j OWN-1\nCOMMIT\n',
    );
    expect(remove(['-A THEIRS -g OWN-1'], ['OWN-1', 'THEIRS']).removals).to.deep.equal([]);
  });

  it('keeps marking and masquerading as they are where others mark, but for rules that have no use any more', () => {
    const { removals, kept } = remove(
      [
        `-A POSTROUTING ${leads('KUBE-POSTROUTING')}`,
        '-A THEIRS -j KUBE-MARK-MASQ',
        '-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000',
        '-A KUBE-POSTROUTING -m comment --comment obsolete -j MASQUERADE',
        '-A KUBE-POSTROUTING -j MASQUERADE --random-fully',
      ],
      ['POSTROUTING', 'THEIRS', 'KUBE-MARK-MASQ', 'KUBE-POSTROUTING'],
    );
    expect(kept.map(({ chain }) => chain)).to.deep.equal(['KUBE-MARK-MASQ', 'KUBE-POSTROUTING']);
    expect(renderTableRemovals(removals)).to.equal(
      '*nat\n-D KUBE-POSTROUTING -m comment --comment obsolete -j MASQUERADE\nCOMMIT\n',
    );
  });

  it('leaves a chain that is to stay with its rules, and all that these lead to', () => {
    const { removals, kept } = remove(
      [`-A OUTPUT ${leads('OWN-1')}`, '-A OWN-1 -j OWN-2', `-A OWN-1 ${leads('OWN-3')}`],
      ['OUTPUT', 'OWN-1', 'OWN-2', 'OWN-3'],
      { 'OWN-1': 'it is in use' },
    );
    expect(kept).to.deep.equal([
      { table: 'nat', chain: 'OWN-1', why: 'it is in use' },
      { table: 'nat', chain: 'OWN-2', why: 'a rule of chain OWN-1 leads to it' },
    ]);
    expect(renderTableRemovals(removals)).to.equal(
      '*nat\n:OWN-3 - [0:0]\n-D OWN-1 -m comment --comment mine -j OWN-3\n-X OWN-3\nCOMMIT\n',
    );
  });

  const targets: readonly (readonly [string, string | undefined])[] = [
    ['-j KUBE-SERVICES', 'KUBE-SERVICES'],
    ['-s 10.0.0.1/32 -g OTHERS', 'OTHERS'],
    ['-j REJECT --reject-with icmp-port-unreachable', undefined],
    ['-m comment --comment "-j KUBE-SERVICES"', undefined],
    ['-p tcp', undefined],
    ['', undefined],
  ];
  for (const [rule, target] of targets) {
    it(`knows where ${JSON.stringify(rule)} leads`, () => expect(targetOf(rule)).to.equal(target));
  }
});
