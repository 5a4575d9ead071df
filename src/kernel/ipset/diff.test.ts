import { expect } from 'chai';
import fc from 'fast-check';
import { anySets, setsWith } from '../../../test/builders/kernel-states.ts';
import { MemoryIpsets } from '../../../test/kernel/memory-ipset.ts';
import { FAMILIES } from '../../net/family.ts';
import { KUBE_PROXY_SETS, ownSets } from './definitions.ts';
import { applyIpsetSteps, diffIpsets } from './diff.ts';
import { parseIpsetSave } from './parse.ts';
import { renderIpsetState, renderIpsetSteps } from './render.ts';
import { emptySets, type IpSet, type IpsetState, type SetEntry } from './state.ts';

describe('kernel/ipset/diff', () => {
  for (const family of FAMILIES) {
    it(`leads from any ${family} state to any other, in memory and in the kernel, and then has nothing to do`, () =>
      fc.assert(
        fc.property(fc.array(anySets(family).filter(isFilled), { minLength: 2, maxLength: 4 }), (states) => {
          const kernel = new MemoryIpsets();
          let known: IpsetState = new Map();
          for (const wanted of states) {
            const { early, late, rebuilt } = diffIpsets(known, wanted, ownSets(family));
            known = applyIpsetSteps(known, [...early, ...late]);
            expect(rebuilt).to.deep.equal([]);
            for (const steps of [early, late]) {
              expect(kernel.restore(renderIpsetSteps(steps))).to.deep.equal({ stderr: '', exitCode: 0 });
            }
            const read = parseIpsetSave(kernel.save()) ?? new Map();
            expect(renderIpsetState(read)).to.equal(renderIpsetState(wanted));
            expect(renderIpsetState(known)).to.equal(renderIpsetState(wanted));
            expect(diffIpsets(read, wanted, ownSets(family))).to.deep.equal(NOTHING);
          }
        }),
        { numRuns: 60 },
      ));
  }

  it('adds before it deletes, and makes every set before the first entry', () => {
    const present = setsWith('IPv4', { 'CLUSTER-IP': ['172.20.1.1,tcp:80'] });
    const wanted = setsWith('IPv4', { 'CLUSTER-IP': ['172.20.1.2,tcp:80'], 'NODE-PORT-TCP': ['30080'] });
    const missing = new Map([...present].filter(([name]) => name !== 'KUBE-NODE-PORT-TCP' && name !== 'KUBE-IPVS-IPS'));
    const { early, late } = diffIpsets(missing, wanted, OWN);
    expect(renderIpsetSteps(early)).to.equal(
      `create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536
add KUBE-CLUSTER-IP 172.20.1.2,6:80
add KUBE-NODE-PORT-TCP 30080
`,
    );
    expect(renderIpsetSteps(late)).to.equal('del KUBE-CLUSTER-IP 172.20.1.1,6:80\n');
  });

  it('leaves sets of others alone, also those of the other family', () => {
    const others = new Map([
      ...setsWith('IPv6', { 'CLUSTER-IP': ['fd00::1,tcp:80'] }),
      ['mine', foreignSet('mine')] as const,
    ]);
    expect(diffIpsets(new Map([...setsWith('IPv4'), ...others]), setsWith('IPv4'), OWN)).to.deep.equal(NOTHING);
  });

  it('destroys a set of ours that has another type or family and makes it anew, telling that no rule may name it meanwhile', () => {
    const wanted = setsWith('IPv4', { 'CLUSTER-IP': ['172.20.1.1,tcp:80'], 'IPVS-IPS': ['172.20.1.1'] });
    const present = new Map([...setsWith('IPv4'), ['KUBE-CLUSTER-IP', foreignSet('KUBE-CLUSTER-IP')] as const]);
    present.set('KUBE-IPVS-IPS', { ...setOf(wanted, 'KUBE-IPVS-IPS'), family: 'IPv6', entries: new Set() });
    const { early, late, rebuilt } = diffIpsets(present, wanted, OWN);
    expect(rebuilt).to.deep.equal(['KUBE-CLUSTER-IP', 'KUBE-IPVS-IPS']);
    expect(late).to.deep.equal([]);
    expect(renderIpsetSteps(early)).to.equal(
      `destroy KUBE-CLUSTER-IP
create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536
destroy KUBE-IPVS-IPS
create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536
add KUBE-CLUSTER-IP 172.20.1.1,6:80
add KUBE-IPVS-IPS 172.20.1.1
`,
    );
  });

  const ranges = 'LOAD-BALANCER-SOURCE-CIDR';
  const one = '203.0.113.9,tcp:80,198.51.100.0/24';
  const two = '203.0.113.9,tcp:80,192.0.2.0/24';
  const replaced: readonly (readonly [string, Partial<IpSet>, string])[] = [
    [
      'entries that time out',
      { oddities: ['timeout 60'] },
      `add KUBE-EXCHANGE ${sixth(two)}\nadd KUBE-EXCHANGE ${sixth(one)}\n`,
    ],
    ['less room', { maxEntries: 1024 }, `add KUBE-EXCHANGE ${sixth(two)}\nadd KUBE-EXCHANGE ${sixth(one)}\n`],
    [
      'much more room than is needed',
      { maxEntries: 131072 },
      `add KUBE-EXCHANGE ${sixth(two)}\nadd KUBE-EXCHANGE ${sixth(one)}\n`,
    ],
    ['entries that mean the opposite', { oddities: ['nomatch'] }, `add KUBE-EXCHANGE ${sixth(two)}\n`],
  ];
  for (const [what, given, adds] of replaced) {
    it(`swaps a set of ours with ${what} for a new one, which has what the old one had until the end`, () => {
      const wanted = setsWith('IPv4', { [ranges]: [two] });
      const name = `KUBE-${ranges}`;
      const present = new Map(setsWith('IPv4', { [ranges]: [one] }));
      present.set(name, { ...setOf(present, name), ...given });
      const { early, late, rebuilt } = diffIpsets(present, wanted, OWN);
      expect(rebuilt).to.deep.equal([]);
      expect(renderIpsetSteps(early)).to.equal(
        `create KUBE-EXCHANGE hash:ip,port,net family inet hashsize 1024 maxelem 65536
${adds}swap KUBE-LOAD-BALANCER-SOURCE-CIDR KUBE-EXCHANGE
destroy KUBE-EXCHANGE
`,
      );
      const kept = given.oddities?.includes('nomatch') ? '' : `del ${name} ${sixth(one)}\n`;
      expect(renderIpsetSteps(late)).to.equal(kept);
      const after = applyIpsetSteps(present, [...early, ...late]);
      expect([...after].sort()).to.deep.equal([...wanted].sort());
    });
  }

  it('takes what an exchange left behind away first', () => {
    const present = new Map([...setsWith('IPv6'), ['KUBE-6-EXCHANGE', foreignSet('KUBE-6-EXCHANGE')] as const]);
    const { early } = diffIpsets(present, setsWith('IPv6'), ownSets('IPv6'));
    expect(renderIpsetSteps(early)).to.equal('destroy KUBE-6-EXCHANGE\n');
  });

  it('destroys sets that are ours and not wanted any more', () => {
    const wanted = emptySets('IPv4', KUBE_PROXY_SETS);
    const { early, late } = diffIpsets(setsWith('IPv4', { 'NODE-PORT-IP': ['192.168.0.10'] }), wanted, OWN);
    expect([renderIpsetSteps(early), renderIpsetSteps(late)]).to.deep.equal([
      '',
      'destroy KUBE-CLUSTER-IP-NO-LOCAL\ndestroy KUBE-EXTERNAL-NO-LOCAL\ndestroy KUBE-NODE-PORT-IP\n',
    ]);
  });

  describe('size', () => {
    const name = 'KUBE-IPVS-IPS';
    const filled = (count: number, first = 0) =>
      setsWith('IPv4', { 'IPVS-IPS': Array.from({ length: count }, (_, index) => address(first + index)) });
    const room = (sets: IpsetState) => setOf(sets, name).maxEntries;
    const step = (present: IpsetState, wanted: IpsetState) => {
      const { early, late } = diffIpsets(present, wanted, OWN);
      return {
        swaps: early.some(({ kind }) => kind === 'swap-sets'),
        after: applyIpsetSteps(present, [...early, ...late]),
      };
    };

    it('grows with the entries, and is made large enough at once', () => {
      expect([room(filled(65536)), room(filled(65537)), room(filled(200000))]).to.deep.equal([65536, 131072, 262144]);
      const { swaps, after } = step(filled(65536), filled(65537));
      expect([swaps, room(after), setOf(after, name).entries.size]).to.deep.equal([true, 131072, 65537]);
    });

    it('has room for the old and the new together while a pass runs', () => {
      const { swaps, after } = step(filled(60000), filled(60000, 10000));
      expect([swaps, room(after), setOf(after, name).entries.size]).to.deep.equal([true, 131072, 60000]);
    });

    it('shrinks only when there is plenty of room in the smaller one, so that it does not go to and fro', () => {
      const large = applyIpsetSteps(new Map(), diffIpsets(new Map(), filled(65537), OWN).early);
      const still = step(large, filled(65000));
      expect([still.swaps, room(still.after)]).to.deep.equal([false, 131072]);
      expect(step(still.after, filled(65000)).swaps).to.equal(false);
      const few = step(step(large, filled(100)).after, filled(100));
      expect([few.swaps, room(few.after)]).to.deep.equal([true, 65536]);
      expect(step(few.after, filled(100)).swaps).to.equal(false);
    });
  });

  const local = { 'LOAD-BALANCER': ['203.0.113.9,tcp:80'], 'LOAD-BALANCER-LOCAL': ['203.0.113.9,tcp:80'] };
  const everywhere = { 'LOAD-BALANCER': ['203.0.113.9,tcp:80'] };
  const policies: readonly (readonly [
    string,
    Readonly<Record<string, readonly string[]>>,
    Readonly<Record<string, readonly string[]>>,
    readonly string[],
    readonly string[],
  ])[] = [
    [
      'late where a frontend stays and gets policy Local',
      everywhere,
      local,
      [],
      ['add KUBE-LOAD-BALANCER-LOCAL 203.0.113.9,6:80'],
    ],
    [
      'early where a frontend stays and loses policy Local',
      local,
      everywhere,
      ['del KUBE-LOAD-BALANCER-LOCAL 203.0.113.9,6:80'],
      [],
    ],
    [
      'early where the frontend is new',
      {},
      local,
      ['add KUBE-LOAD-BALANCER 203.0.113.9,6:80', 'add KUBE-LOAD-BALANCER-LOCAL 203.0.113.9,6:80'],
      [],
    ],
    [
      'late where the frontend goes',
      local,
      {},
      [],
      ['del KUBE-LOAD-BALANCER 203.0.113.9,6:80', 'del KUBE-LOAD-BALANCER-LOCAL 203.0.113.9,6:80'],
    ],
  ];
  for (const [when, before, after, early, late] of policies) {
    it(`exempts from masquerading ${when}, so that no server elsewhere answers to a client`, () => {
      const diff = diffIpsets(setsWith('IPv4', before), setsWith('IPv4', after), OWN);
      expect([diff.early, diff.late].map(renderIpsetSteps)).to.deep.equal([lines(early), lines(late)]);
    });
  }

  const NONE_STANDS = { stands: () => false, serves: () => false };

  it('exempts early where the frontend is told of and not served yet, so that it does not come without', () => {
    const cluster = { 'LOAD-BALANCER': ['203.0.113.9,tcp:80'] };
    const diff = diffIpsets(setsWith('IPv4', cluster), setsWith('IPv4', local), OWN, new Set(), NONE_STANDS);
    expect([diff.early, diff.late].map(renderIpsetSteps)).to.deep.equal([
      lines(['add KUBE-LOAD-BALANCER-LOCAL 203.0.113.9,6:80']),
      '',
    ]);
  });

  const narrowed = (ranges: readonly string[]) => ({
    'LOAD-BALANCER-FW': ['203.0.113.9,tcp:80'],
    'LOAD-BALANCER-SOURCE-CIDR': ranges.map((range) => `203.0.113.9,tcp:80,${range}`),
  });
  const deletion = lines(['del KUBE-LOAD-BALANCER-SOURCE-CIDR 203.0.113.9,6:80,10.0.0.0/8']);
  for (const [when, frontends, early, late] of [
    ['early where the frontend serves nobody, as it may get servers meanwhile', NONE_STANDS, deletion, ''],
    ['late where it serves somebody', undefined, '', deletion],
  ] as const) {
    it(`takes a range away ${when}`, () => {
      const [before, after] = [setsWith('IPv4', narrowed(['10.0.0.0/8'])), setsWith('IPv4', narrowed([]))];
      const diff = diffIpsets(before, after, OWN, new Set(), frontends);
      expect([diff.early, diff.late].map(renderIpsetSteps)).to.deep.equal([early, late]);
    });
  }

  it('keeps the ranges of a frontend that serves nobody as long as it is closed to others', () => {
    const diff = diffIpsets(setsWith('IPv4', narrowed(['10.0.0.0/8'])), setsWith('IPv4'), OWN, new Set(), NONE_STANDS);
    expect(renderIpsetSteps(diff.early)).to.equal('');
  });

  it('exempts at the same time where the set is made anew', () => {
    const tight = (sets: IpsetState) =>
      new Map([...sets].map(([name, set]) => [name, { ...set, oddities: name === exempting ? ['timeout 60'] : [] }]));
    const exempting = 'KUBE-LOAD-BALANCER-LOCAL';
    const [first, second] = ['203.0.113.8,6:80', '203.0.113.9,6:80'];
    const both = { 'LOAD-BALANCER': ['203.0.113.8,tcp:80', '203.0.113.9,tcp:80'] };
    const before = setsWith('IPv4', { ...both, 'LOAD-BALANCER-LOCAL': ['203.0.113.8,tcp:80'] });
    const after = setsWith('IPv4', { ...both, 'LOAD-BALANCER-LOCAL': ['203.0.113.9,tcp:80'] });
    const { early, late } = diffIpsets(tight(before), after, OWN);
    const script = renderIpsetSteps(early);
    expect(script).to.include(`swap ${exempting} KUBE-EXCHANGE\n`).and.not.include(first).and.not.include(second);
    expect(renderIpsetSteps(late)).to.equal(lines([`add ${exempting} ${second}`]));
    expect([...applyIpsetSteps(tight(before), [...early, ...late])]).to.deep.equal([...after]);
  });

  it('closes to all sources after it has opened to some where the set that closes is made anew too', () => {
    const ranged = {
      'LOAD-BALANCER-FW': ['203.0.113.9,tcp:80'],
      'LOAD-BALANCER-SOURCE-CIDR': ['203.0.113.9,tcp:80,192.0.2.0/24'],
    };
    const open = new Map(setsWith('IPv4'));
    open.set('KUBE-LOAD-BALANCER-FW', { ...setOf(open, 'KUBE-LOAD-BALANCER-FW'), oddities: ['timeout 60'] });
    const script = renderIpsetSteps(diffIpsets(open, setsWith('IPv4', ranged), OWN).early);
    expect(script.indexOf('add KUBE-LOAD-BALANCER-SOURCE-CIDR ')).to.be.within(
      0,
      script.indexOf('swap KUBE-LOAD-BALANCER-FW KUBE-EXCHANGE'),
    );
  });

  it('closes to all sources after it has opened to some, and opens to all before it closes to some', () => {
    const ranged = {
      'LOAD-BALANCER-FW': ['203.0.113.9,tcp:80'],
      'LOAD-BALANCER-SOURCE-CIDR': ['203.0.113.9,tcp:80,192.0.2.0/24'],
    };
    const [open, closed] = [setsWith('IPv4'), setsWith('IPv4', ranged)];
    const [entry, range] = ['203.0.113.9,6:80', '203.0.113.9,6:80,192.0.2.0/24'];
    expect(renderIpsetSteps(diffIpsets(open, closed, OWN).early)).to.equal(
      lines([`add KUBE-LOAD-BALANCER-SOURCE-CIDR ${range}`, `add KUBE-LOAD-BALANCER-FW ${entry}`]),
    );
    expect(renderIpsetSteps(diffIpsets(closed, open, OWN).late)).to.equal(
      lines([`del KUBE-LOAD-BALANCER-FW ${entry}`, `del KUBE-LOAD-BALANCER-SOURCE-CIDR ${range}`]),
    );
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

const OWN = ownSets('IPv4');
const NOTHING = { early: [], late: [], rebuilt: [] };

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

function address(index: number): string {
  return `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
}

/** The entry with its protocol as a number. */
function sixth(entry: string): string {
  return entry.replace('tcp', '6');
}

function isFilled(sets: IpsetState): boolean {
  return sets.size > 0;
}

function foreignSet(name: string): IpSet {
  return { name, type: 'list:set', family: undefined, maxEntries: undefined, oddities: [], entries: new Set() };
}

function setOf(sets: IpsetState, name: string): IpSet {
  return sets.get(name) ?? foreignSet(name);
}
