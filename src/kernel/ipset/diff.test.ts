import { expect } from 'chai';
import fc from 'fast-check';
import { anySets, setsWith } from '../../../test/builders/kernel-states.ts';
import { MemoryIpsets } from '../../../test/kernel/memory-ipset.ts';
import { FAMILIES } from '../../net/family.ts';
import { applyIpsetSteps, diffIpsets } from './diff.ts';
import { parseIpsetSave } from './parse.ts';
import { renderIpsetState, renderIpsetSteps } from './render.ts';
import type { IpSet, IpsetState, SetEntry } from './state.ts';

describe('kernel/ipset/diff', () => {
  for (const family of FAMILIES) {
    it(`leads from any ${family} state to any other, in memory and in the kernel, and then has nothing to do`, () =>
      fc.assert(
        fc.property(fc.array(anySets(family).filter(isFilled), { minLength: 2, maxLength: 4 }), (states) => {
          const kernel = new MemoryIpsets();
          let known: IpsetState = new Map();
          for (const wanted of states) {
            const { additions, removals, conflicts } = diffIpsets(known, wanted);
            known = applyIpsetSteps(known, [...additions, ...removals]);
            expect(conflicts).to.deep.equal([]);
            for (const steps of [additions, removals]) {
              expect(kernel.restore(renderIpsetSteps(steps))).to.deep.equal({ stderr: '', exitCode: 0 });
            }
            const read = parseIpsetSave(kernel.save()) ?? new Map();
            expect(renderIpsetState(read)).to.equal(renderIpsetState(wanted));
            expect(renderIpsetState(known)).to.equal(renderIpsetState(wanted));
            expect(diffIpsets(read, wanted)).to.deep.equal({ additions: [], removals: [], conflicts: [] });
          }
        }),
        { numRuns: 60 },
      ));
  }

  it('adds before it deletes, and makes every set before the first entry', () => {
    const present = setsWith('IPv4', { 'CLUSTER-IP': ['172.20.1.1,tcp:80'] });
    const wanted = setsWith('IPv4', { 'CLUSTER-IP': ['172.20.1.2,tcp:80'], 'NODE-PORT-TCP': ['30080'] });
    const missing = new Map([...present].filter(([name]) => name !== 'KUBE-NODE-PORT-TCP' && name !== 'KUBE-IPVS-IPS'));
    const { additions, removals } = diffIpsets(missing, wanted);
    expect(renderIpsetSteps(additions)).to.equal(
      `create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536
add KUBE-CLUSTER-IP 172.20.1.2,6:80
add KUBE-NODE-PORT-TCP 30080
`,
    );
    expect(renderIpsetSteps(removals)).to.equal('del KUBE-CLUSTER-IP 172.20.1.1,6:80\n');
  });

  it('leaves sets of others alone, also those of the other family', () => {
    const others = new Map([
      ...setsWith('IPv6', { 'CLUSTER-IP': ['fd00::1,tcp:80'] }),
      ['mine', foreignSet('mine')] as const,
    ]);
    const { additions, removals, conflicts } = diffIpsets(new Map([...setsWith('IPv4'), ...others]), setsWith('IPv4'));
    expect({ additions, removals, conflicts }).to.deep.equal({ additions: [], removals: [], conflicts: [] });
  });

  it('names a set of ours that has another type or family, and does nothing to it', () => {
    const wanted = setsWith('IPv4', { 'CLUSTER-IP': ['172.20.1.1,tcp:80'], 'IPVS-IPS': ['172.20.1.1'] });
    const present = new Map([...setsWith('IPv4'), ['KUBE-CLUSTER-IP', foreignSet('KUBE-CLUSTER-IP')] as const]);
    present.set('KUBE-IPVS-IPS', { ...setOf(wanted, 'KUBE-IPVS-IPS'), family: 'IPv6', entries: new Set() });
    const diff = diffIpsets(present, wanted);
    expect(diff.conflicts.map(({ wanted: set, present: found }) => [set.name, found.type, found.family])).to.deep.equal(
      [
        ['KUBE-CLUSTER-IP', 'list:set', undefined],
        ['KUBE-IPVS-IPS', 'hash:ip', 'IPv6'],
      ],
    );
    expect([...diff.additions, ...diff.removals]).to.deep.equal([]);
  });

  it('lets a set with another limit be', () => {
    const wanted = setsWith('IPv4');
    const larger = new Map([...wanted].map(([name, set]) => [name, { ...set, maxEntries: 1048576 }]));
    expect(diffIpsets(larger, wanted)).to.deep.equal({ additions: [], removals: [], conflicts: [] });
  });

  it('does not change the state that it is given', () => {
    const present = setsWith('IPv4', { 'IPVS-IPS': ['172.20.1.1'] });
    const set = setOf(present, 'KUBE-IPVS-IPS');
    const after = applyIpsetSteps(present, [{ kind: 'add-entry', set, entry: '172.20.1.2' as SetEntry }]);
    expect([...setOf(after, 'KUBE-IPVS-IPS').entries]).to.deep.equal(['172.20.1.1', '172.20.1.2']);
    expect([...setOf(present, 'KUBE-IPVS-IPS').entries]).to.deep.equal(['172.20.1.1']);
    expect(applyIpsetSteps(present, [])).to.equal(present);
  });
});

function isFilled(sets: IpsetState): boolean {
  return sets.size > 0;
}

function foreignSet(name: string): IpSet {
  return { name, type: 'list:set', family: undefined, maxEntries: undefined, entries: new Set() };
}

function setOf(sets: IpsetState, name: string): IpSet {
  return sets.get(name) ?? foreignSet(name);
}
