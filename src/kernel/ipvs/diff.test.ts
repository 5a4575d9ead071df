import { expect } from 'chai';
import fc from 'fast-check';
import { applyIpvsSteps, withoutConnections } from '../../../test/builders/ipvs-steps.ts';
import { anyIpvs, ipvs, real, server } from '../../../test/builders/kernel-states.ts';
import { ip } from '../../../test/builders/net.ts';
import { MemoryIpvs } from '../../../test/kernel/memory-ipvs.ts';
import { FAMILIES } from '../../net/family.ts';
import {
  applyIpvsDiff,
  type Draining,
  diffIpvs,
  type IpvsDiff,
  type IpvsStep,
  type MayDelete,
  PATIENT,
} from './diff.ts';
import { parseIpvsSave } from './parse-save.ts';
import { realAt } from './real-servers.ts';
import { renderIpvsState, renderIpvsSteps } from './render.ts';
import type { IpvsState, RealServer, VirtualServer } from './state.ts';
import { realServerKey } from './state.ts';

describe('kernel/ipvs/diff', () => {
  for (const family of FAMILIES) {
    it(`leads from any ${family} state to any other, in memory and in the kernel, and then has nothing to do`, () =>
      fc.assert(
        fc.property(fc.array(anyIpvs(family), { minLength: 2, maxLength: 5 }), (states) => {
          const kernel = new MemoryIpvs();
          let known: IpvsState = new Map();
          const step = (wanted: IpvsState) => {
            const diff = diffIpvs(known, wanted, () => 'yes');
            expect(kernel.restore(renderIpvsSteps(allSteps(diff)))).to.deep.equal({ stderr: '', exitCode: 0 });
            known = applyIpvsDiff(known, diff);
            expect(sortedLines(kernel.save())).to.equal(renderIpvsState(known));
          };
          for (const wanted of states) {
            step(wanted);
            known = withoutConnections(known);
            step(wanted);
            expect(renderIpvsState(known)).to.equal(renderIpvsState(wanted));
            const again = diffIpvs(parseIpvsSave(kernel.save()) ?? new Map(), wanted, () => 'yes');
            expect([allSteps(again), again.kept]).to.deep.equal([[], []]);
          }
        }),
      ));

    it(`serves everything that is wanted of ${family} once the additions are done, and takes nothing away by them`, () =>
      fc.assert(
        fc.property(anyIpvs(family), anyIpvs(family), (present, wanted) => {
          const { additions } = diffIpvs(present, wanted, () => 'yes');
          const between = applyIpvsSteps(present, additions);
          for (const [key, { realServers, ...facts }] of wanted) {
            const { realServers: reached, ...reachedFacts } = between.get(key) ?? server();
            expect(reachedFacts).to.deep.equal(facts);
            for (const each of realServers) expect(realAt(reached, each)?.weight).to.equal(each.weight);
          }
          for (const [key, { realServers }] of present) {
            const left = between.get(key)?.realServers.map(realServerKey) ?? [];
            expect(left).to.include.members(realServers.map(realServerKey));
          }
        }),
      ));
  }

  it('keeps whatever it may not delete, with the reason, and its real servers with it', () =>
    fc.assert(
      fc.property(anyIpvs('IPv4'), anyIpvs('IPv4'), (present, wanted) => {
        const answers = { '172.20.1.1': 'foreign', '172.20.1.2': 'excluded', '192.168.0.10': 'yes' } as const;
        const mayDelete: MayDelete = ({ address }) => answers[address as string as keyof typeof answers];
        const diff = diffIpvs(present, wanted, mayDelete);
        const after = applyIpvsDiff(present, diff);
        expect(renderIpvsState(after)).to.equal(renderIpvsState(applyIpvsSteps(present, allSteps(diff))));
        const unwanted = [...present].filter(([key]) => !wanted.has(key)).map(([, each]) => each);
        const stay = unwanted.filter((each) => mayDelete(each) !== 'yes');
        expect(diff.kept.filter(({ why }) => why !== 'draining')).to.deep.equal(
          stay.map((each) => ({ why: mayDelete(each), server: each })),
        );
        expect(allSteps(diffIpvs(after, wanted, mayDelete))).to.deep.equal([]);
        const seen = withoutConnections(after);
        const drained = applyIpvsDiff(seen, diffIpvs(seen, wanted, mayDelete));
        expect(renderIpvsState(drained)).to.equal(renderIpvsState(ipvs(...wanted.values(), ...stay)));
      }),
    ));

  describe('a real server that is not wanted any more', () => {
    const wanted = ipvs(server([real('10.180.0.2')]));

    for (const connections of [undefined, 0, 3]) {
      it(`gets weight 0 first and stays as draining, though ${connections ?? 'nobody knows how many'} connections were counted`, () => {
        const { connections: _, ...plain } = real('10.180.0.1');
        const old = connections === undefined ? plain : { ...plain, connections };
        const diff = diffIpvs(ipvs(server([old, real('10.180.0.2')])), wanted, never);
        expect(renderIpvsSteps(diff.additions)).to.equal('-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0\n');
        expect(diff.removals).to.deep.equal([]);
        const draining = { ...plain, weight: 0 };
        expect(diff.kept).to.deep.equal([{ why: 'draining', server: [...wanted.values()][0], real: draining }]);
      });
    }

    it('is not deleted before its connections were counted with weight 0', () => {
      const { connections: _, ...unseen } = real('10.180.0.1', { weight: 0 });
      expect(allSteps(diffIpvs(ipvs(server([unseen, real('10.180.0.2')])), wanted, never))).to.deep.equal([]);
    });

    it('goes with its connections when it has had its time', () => {
      const asked: string[] = [];
      const impatient: Draining = { ...PATIENT, isOver: (of, each) => asked.push(`${of} ${each}`) > 0 };
      const busy = real('10.180.0.1', { connections: 3, weight: 0 });
      const diff = diffIpvs(ipvs(server([busy, real('10.180.0.2')])), wanted, never, impatient);
      expect(renderIpvsSteps(allSteps(diff))).to.equal('-d -t 172.20.1.1:80 -r 10.180.0.1:8080\n');
      expect(asked).to.deep.equal(['TCP 172.20.1.1:80 10.180.0.1:8080']);
    });

    it('is left alone while it drains', () => {
      const draining = real('10.180.0.1', { connections: 1, weight: 0 });
      const diff = diffIpvs(ipvs(server([draining, real('10.180.0.2')])), wanted, never);
      expect(allSteps(diff)).to.deep.equal([]);
      expect(diff.kept.map(({ why }) => why)).to.deep.equal(['draining']);
    });

    it('is deleted after its last connection', () => {
      const drained = real('10.180.0.1', { connections: 0, weight: 0 });
      const diff = diffIpvs(ipvs(server([drained, real('10.180.0.2')])), wanted, never);
      expect(renderIpvsSteps(allSteps(diff))).to.equal('-d -t 172.20.1.1:80 -r 10.180.0.1:8080\n');
    });

    it('gets its weight back by one edit when it is wanted again', () => {
      const draining = real('10.180.0.2', { connections: 5, weight: 0 });
      const diff = diffIpvs(ipvs(server([draining])), wanted, never);
      expect(renderIpvsSteps(allSteps(diff))).to.equal('-e -t 172.20.1.1:80 -r 10.180.0.2:8080 -m -w 1\n');
      expect(diff.kept).to.deep.equal([]);
    });

    it('keeps its way of forwarding when it drains', () => {
      const routed = real('10.180.0.1', { connections: 1, forwarding: 'tunnel' });
      const { additions } = diffIpvs(ipvs(server([routed, real('10.180.0.2')])), wanted, never);
      expect(renderIpvsSteps(additions)).to.equal('-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -i -w 0\n');
    });

    for (const protocol of ['UDP', 'SCTP'] as const) {
      it(`is deleted at once with ${protocol}, whatever its connections`, () => {
        const busy = real('10.180.0.1', { connections: 9 });
        const diff = diffIpvs(ipvs(server([busy], { protocol })), ipvs(server([], { protocol })), never);
        expect(allSteps(diff).map(({ kind }) => kind)).to.deep.equal(['delete-real-server']);
        expect(diff.kept).to.deep.equal([]);
      });
    }

    it('goes with its virtual server without draining', () => {
      const busy = server([real('10.180.0.1', { connections: 9 })]);
      expect(renderIpvsSteps(allSteps(diffIpvs(ipvs(busy), new Map(), () => 'yes')))).to.equal('-D -t 172.20.1.1:80\n');
    });
  });

  describe('a virtual server that goes is told to be cut', () => {
    const cases: readonly (readonly [string, readonly RealServer[], boolean])[] = [
      ['when one of its real servers may have connections', [real('10.180.0.1', { weight: 0, connections: 1 })], true],
      ['when nobody has looked since one took its last', [real('10.180.0.1', { weight: 0 })], true],
      ['when one can get some at any time', [real('10.180.0.1', { connections: 0 })], true],
      ['not when all were seen to have none', [real('10.180.0.1', { weight: 0, connections: 0 })], false],
      ['not when it has no real servers', [], false],
    ];
    for (const [when, reals, isCut] of cases) {
      it(when, () => {
        const present = server(reals);
        const { cut } = diffIpvs(ipvs(present), new Map(), () => 'yes');
        expect(cut).to.deep.equal(isCut ? [present] : []);
      });
    }
  });

  describe('a virtual server that is not wanted any more, when its connections may end', () => {
    const lasting: Draining = { ...PATIENT, mayLinger: () => true };
    const end = (present: IpvsState, draining = lasting) => diffIpvs(present, new Map(), () => 'yes', draining);

    it('lingers with weight 0 until nobody is connected any more, and then goes as a whole', () => {
      const present = ipvs(server([real('10.180.0.1', { connections: 3 }), real('10.180.0.2')]));
      const first = end(present);
      expect(renderIpvsSteps(allSteps(first))).to.equal(
        '-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0\n-e -t 172.20.1.1:80 -r 10.180.0.2:8080 -m -w 0\n',
      );
      expect(first.kept.map(({ why }) => why).sort()).to.deep.equal(['draining', 'draining', 'lingering']);
      const half = applyIpvsDiff(present, first);
      const oneLeft = new Map(
        [...withoutConnections(half)].map(([key, each]) => {
          const reals = each.realServers.map((real) =>
            real.address === '10.180.0.1' ? { ...real, connections: 1 } : real,
          );
          return [key, server(reals)] as const;
        }),
      );
      const second = end(oneLeft);
      expect(renderIpvsSteps(allSteps(second))).to.equal('-d -t 172.20.1.1:80 -r 10.180.0.2:8080\n');
      const last = end(withoutConnections(applyIpvsDiff(oneLeft, second)));
      expect(renderIpvsSteps(allSteps(last))).to.equal('-D -t 172.20.1.1:80\n');
      expect(last.kept).to.deep.equal([]);
    });

    it('goes when all have had their time', () => {
      const busy = ipvs(server([real('10.180.0.1', { connections: 3, weight: 0 })]));
      const diff = end(busy, { ...lasting, isOver: () => true });
      expect(renderIpvsSteps(allSteps(diff))).to.equal('-D -t 172.20.1.1:80\n');
    });

    it('goes at once without real servers, and where no end of a connection is known', () => {
      const servers = ipvs(server([]), server([real('10.180.0.1', { connections: 3 })], { protocol: 'UDP' }));
      expect(renderIpvsSteps(allSteps(end(servers)))).to.equal('-D -t 172.20.1.1:80\n-D -u 172.20.1.1:80\n');
    });
  });

  const edits: readonly (readonly [string, Partial<VirtualServer>, Partial<VirtualServer>, string])[] = [
    ['another scheduler', { scheduler: 'wlc' }, {}, '-E -t 172.20.1.1:80 -s rr\n'],
    ['affinity that is new', {}, { persistenceSeconds: 10800 }, '-E -t 172.20.1.1:80 -s rr -p 10800\n'],
    ['affinity that has gone', { persistenceSeconds: 10800 }, {}, '-E -t 172.20.1.1:80 -s rr\n'],
    ['another affinity', { persistenceSeconds: 60 }, { persistenceSeconds: 61 }, '-E -t 172.20.1.1:80 -s rr -p 61\n'],
    [
      'other flags',
      { scheduler: 'mh' },
      { scheduler: 'mh', schedulerFlags: ['mh-port'] },
      '-E -t 172.20.1.1:80 -s mh -b mh-port\n',
    ],
    [
      'flags that a reading does not tell',
      { scheduler: 'mh', schedulerFlags: undefined },
      { scheduler: 'mh', schedulerFlags: ['mh-port'] },
      '',
    ],
    ['nothing new', { persistenceSeconds: 60 }, { persistenceSeconds: 60 }, ''],
  ];
  for (const [name, before, after, script] of edits) {
    it(`edits a virtual server in place and keeps its real servers: ${name}`, () => {
      const reals = [real('10.180.0.1', { connections: 2 })];
      const present = ipvs(server(reals, before));
      const wanted = ipvs(server([real('10.180.0.1')], after));
      const diff = diffIpvs(present, wanted, never);
      expect(renderIpvsSteps(allSteps(diff))).to.equal(script);
      expect(renderIpvsState(applyIpvsDiff(present, diff))).to.equal(renderIpvsState(wanted));
    });
  }

  it('corrects a weight and a way of forwarding that somebody else changed', () => {
    const present = ipvs(server([real('10.180.0.1', { weight: 7 }), real('10.180.0.2', { forwarding: 'route' })]));
    const wanted = ipvs(server([real('10.180.0.1'), real('10.180.0.2')]));
    expect(renderIpvsSteps(allSteps(diffIpvs(present, wanted, never)))).to.equal(
      '-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1\n-e -t 172.20.1.1:80 -r 10.180.0.2:8080 -m -w 1\n',
    );
  });

  it('takes the same address with another protocol for another virtual server', () => {
    const [tcp, udp] = [server([real()]), server([real()], { protocol: 'UDP' })];
    expect(renderIpvsSteps(allSteps(diffIpvs(ipvs(tcp), ipvs(udp), () => 'yes')))).to.equal(
      '-A -u 172.20.1.1:80 -s rr\n-a -u 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1\n-D -t 172.20.1.1:80\n',
    );
  });

  it('gives the same state back, not a copy, when there is nothing to apply', () => {
    const state = ipvs(server([real()], { address: ip('172.20.1.2') }));
    expect(applyIpvsDiff(state, { after: new Map() })).to.equal(state);
  });
});

const never: MayDelete = () => 'foreign';

function allSteps({ additions, removals }: IpvsDiff): readonly IpvsStep[] {
  return [...additions, ...removals];
}

function sortedLines(text: string): string {
  return text
    .split('\n')
    .filter(Boolean)
    .sort()
    .map((line) => `${line}\n`)
    .join('');
}
