import { expect } from 'chai';
import { ipvs, observedState, real, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import { emptySets, type IpSet, type SetEntry } from '../kernel/ipset/state.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import type { ObservedState } from '../kernel/state.ts';
import { findRefused, refusedSteps, stepsToTry } from './find-refused.ts';
import type { Plan, PlanPart } from './plan-sync.ts';
import { describeRefused } from './refused.ts';

describe('plan/find-refused', () => {
  const web = server([real()]);
  const old = real('10.180.0.9');

  function planOf(...parts: readonly PlanPart[]): Plan {
    const after = observedState({ sets: setsWith('IPv4') });
    return { family: 'IPv4', parts, after, kept: [], closing: new Set(), foreignAddresses: [], blockedSets: [] };
  }

  const refusedBy = (part: PlanPart, observed: ObservedState) =>
    findRefused(planOf({ tool: 'ipset', steps: [] }, part), { part: 1 }, observed).refused.map(describeRefused);

  const steps: readonly { readonly step: IpvsStep; readonly left: ObservedState['ipvs']; readonly says: string }[] = [
    { step: { kind: 'add-virtual-server', server: web }, left: ipvs(), says: 'virtual server TCP 172.20.1.1:80' },
    {
      step: { kind: 'edit-virtual-server', server: web },
      left: ipvs({ ...web, scheduler: 'wlc' }),
      says: 'change of virtual server TCP 172.20.1.1:80',
    },
    {
      step: { kind: 'delete-virtual-server', server: web },
      left: ipvs(web),
      says: 'deletion of virtual server TCP 172.20.1.1:80',
    },
    {
      step: { kind: 'add-real-server', server: web, real: old },
      left: ipvs(web),
      says: 'real server 10.180.0.9:8080 of TCP 172.20.1.1:80',
    },
    {
      step: { kind: 'edit-real-server', server: web, real: { ...old, weight: 0 } },
      left: ipvs(server([old])),
      says: 'change of real server 10.180.0.9:8080 of TCP 172.20.1.1:80',
    },
    {
      step: { kind: 'delete-real-server', server: web, real: old },
      left: ipvs(server([old])),
      says: 'deletion of real server 10.180.0.9:8080 of TCP 172.20.1.1:80',
    },
  ];
  for (const { step, left, says } of steps) {
    it(`finds that a step was refused: ${step.kind}`, () =>
      expect(refusedBy({ tool: 'ipvs', steps: [step] }, observedState({ ipvs: left }))).to.deep.equal([says]));
  }

  it('blames no real server whose virtual server somebody else has taken away', () => {
    const part: PlanPart = { tool: 'ipvs', steps: [{ kind: 'add-real-server', server: web, real: old }] };
    expect(findRefused(planOf(part), { part: 0 }, observedState())).to.deep.equal({ refused: [], isDone: false });
  });

  it('sees that all is done whatever was said, and looks at no other part', () => {
    const part: PlanPart = { tool: 'ipvs', steps: [{ kind: 'add-virtual-server', server: web }] };
    const later: PlanPart = { tool: 'ipvs', steps: [{ kind: 'delete-virtual-server', server: web }] };
    const observed = observedState({ ipvs: ipvs(web) });
    expect(findRefused(planOf(part, later), { part: 0 }, observed)).to.deep.equal({ refused: [], isDone: true });
  });

  it('finds addresses that did not come, and those that did not go', () => {
    const part: PlanPart = {
      tool: 'address',
      steps: [
        { kind: 'bind-address', address: ip('172.20.1.1') },
        { kind: 'unbind-address', address: ip('172.20.1.2') },
      ],
    };
    const observed = observedState({ dummy: { exists: true, addresses: new Set([ip('172.20.1.2')]) } });
    expect(refusedBy(part, observed)).to.deep.equal(['address 172.20.1.1', 'deletion of address 172.20.1.2']);
  });

  describe('of sets', () => {
    const sets = emptySets('IPv4');
    const setOf = (id: string): IpSet => ({ ...(sets.get(`KUBE-${id}`) as IpSet) });
    const add = (id: string, entry: string, set = setOf(id)): IpsetStep => ({
      kind: 'add-entry',
      set,
      entry: entry as SetEntry,
    });
    const remove = (id: string, entry: string): IpsetStep => ({
      kind: 'delete-entry',
      set: setOf(id),
      entry: entry as SetEntry,
    });
    const [A, B] = ['172.20.1.1,tcp:80', '172.20.1.2,tcp:80'];
    const empty = observedState({ sets: setsWith('IPv4') });
    const tried = (list: readonly IpsetStep[], line: number, observed = empty) => {
      const { refused, others } = stepsToTry(planOf({ tool: 'ipset', steps: list }), { part: 0, line }, observed);
      return { refused, others, names: [...refused, ...others].map(({ step, thing }) => `${step.kind} ${thing.set}`) };
    };

    it('tries all that is left of the kind, the refused one first, and of those what still lacks was refused', () => {
      const { refused, others } = tried(
        [add('CLUSTER-IP', A), add('CLUSTER-IP', B), remove('IPVS-IPS', '10.0.0.1')],
        2,
      );
      expect([refused.length, others.length]).to.deep.equal([1, 1]);
      const after = observedState({ sets: setsWith('IPv4', { 'CLUSTER-IP': [A] }) });
      expect(refusedSteps([...refused, ...others], after).map(describeRefused)).to.deep.equal([
        `entry ${B} of set KUBE-CLUSTER-IP`,
      ]);
    });

    it('closes nothing before all that opens was tried, and opens nothing before it does not close any more', () => {
      const opened = [
        add('LOAD-BALANCER-SOURCE-CIDR', `${A},10.0.0.0/8`),
        add('CLUSTER-IP', A),
        add('LOAD-BALANCER-FW', A),
      ];
      expect(tried(opened, 1).names).to.deep.equal([
        'add-entry KUBE-LOAD-BALANCER-SOURCE-CIDR',
        'add-entry KUBE-CLUSTER-IP',
      ]);
      expect(tried(opened, 3).names).to.include('add-entry KUBE-LOAD-BALANCER-FW');
      const range = `${A},10.0.0.0/8`;
      const full = setsWith('IPv4', { 'LOAD-BALANCER-FW': [A], 'LOAD-BALANCER-SOURCE-CIDR': [range] });
      const closed = [remove('LOAD-BALANCER-FW', A), remove('LOAD-BALANCER-SOURCE-CIDR', range)];
      expect(tried(closed, 1, observedState({ sets: full })).names).to.deep.equal([
        'delete-entry KUBE-LOAD-BALANCER-FW',
      ]);
    });

    it('fills a set that is to be exchanged for its own sake, and swaps nothing', () => {
      const exchange: IpSet = { ...setOf('CLUSTER-IP'), name: 'KUBE-EXCHANGE' };
      const list: readonly IpsetStep[] = [
        { kind: 'create-set', set: exchange },
        add('', A, exchange),
        add('', B, exchange),
        { kind: 'swap-sets', set: setOf('CLUSTER-IP'), other: 'KUBE-EXCHANGE' },
        { kind: 'destroy-set', name: 'KUBE-EXCHANGE' },
        add('IPVS-IPS', '172.20.1.1'),
      ];
      expect(tried(list, 2).names).to.deep.equal(['add-entry KUBE-CLUSTER-IP', 'add-entry KUBE-CLUSTER-IP']);
      expect(tried(list, 4).names).to.deep.equal(['swap-sets KUBE-CLUSTER-IP']);
      expect(tried(list, 4).others).to.deep.equal([]);
      expect(tried(list, 6).names).to.deep.equal(['add-entry KUBE-IPVS-IPS']);
    });

    it('names the set that cannot be exchanged, whichever step of it is refused, and what stands in the way of all', () => {
      const exchange: IpSet = { ...setOf('CLUSTER-IP'), name: 'KUBE-EXCHANGE' };
      const list: readonly IpsetStep[] = [
        { kind: 'create-set', set: setOf('LOOP-BACK') },
        { kind: 'create-set', set: exchange },
        { kind: 'swap-sets', set: setOf('CLUSTER-IP'), other: 'KUBE-EXCHANGE' },
        { kind: 'destroy-set', name: 'KUBE-EXCHANGE' },
      ];
      const says = (line: number, sets: readonly IpSet[]) => {
        const observed = observedState({ sets: new Map(sets.map((set) => [set.name, set])) });
        const { refused, others } = tried(list, line, observed);
        return refusedSteps([...refused, ...others], observed).map(describeRefused);
      };
      expect(says(2, [setOf('LOOP-BACK'), setOf('CLUSTER-IP')])).to.deep.equal(['change of set KUBE-CLUSTER-IP']);
      expect(says(3, [setOf('CLUSTER-IP'), exchange])).to.deep.equal(['change of set KUBE-CLUSTER-IP']);
      expect(says(4, [setOf('CLUSTER-IP'), exchange])).to.deep.equal(['deletion of set KUBE-EXCHANGE']);
    });

    it('tries the other new sets too, but for those that something else stands in the way of', () => {
      const list: readonly IpsetStep[] = [
        { kind: 'create-set', set: setOf('CLUSTER-IP') },
        { kind: 'create-set', set: setOf('LOOP-BACK') },
        { kind: 'destroy-set', name: 'KUBE-IPVS-IPS' },
        { kind: 'create-set', set: setOf('IPVS-IPS') },
        { kind: 'create-set', set: { ...setOf('CLUSTER-IP'), name: 'KUBE-EXCHANGE' } },
      ];
      const odd = observedState({ sets: new Map([['KUBE-IPVS-IPS', { ...setOf('IPVS-IPS'), type: 'bitmap:port' }]]) });
      const { refused, others } = tried(list, 1, odd);
      expect(refusedSteps([...refused, ...others], odd).map(describeRefused)).to.deep.equal([
        'set KUBE-CLUSTER-IP',
        'set KUBE-LOOP-BACK',
      ]);
      expect(refusedSteps(tried(list, 3, odd).refused, odd).map(describeRefused)).to.deep.equal(['set KUBE-IPVS-IPS']);
    });

    it('blames nobody for a set that is not there, and names one that does not go', () => {
      const { refused } = tried([add('CLUSTER-IP', A)], 1, observedState());
      expect(refusedSteps(refused, observedState())).to.deep.equal([]);
      const old = { ...setOf('CLUSTER-IP'), name: 'KUBE-OLD' };
      const left = observedState({ sets: new Map([['KUBE-OLD', old]]) });
      const gone = tried([{ kind: 'destroy-set', name: 'KUBE-OLD' }], 1, left);
      expect(refusedSteps(gone.refused, left).map(describeRefused)).to.deep.equal(['deletion of set KUBE-OLD']);
    });
  });
});
