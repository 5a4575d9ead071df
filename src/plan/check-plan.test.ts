import { expect } from 'chai';
import fc from 'fast-check';
import { anyDesired, desiredFor } from '../../test/builders/desired.ts';
import { observedState, real, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import type { RealServer, VirtualServer } from '../kernel/ipvs/state.ts';
import type { Port } from '../net/port.ts';
import { checkPlan } from './check-plan.ts';
import { type Plan, type PlanPart, planSync } from './plan-sync.ts';

describe('plan/check-plan', () => {
  const good = planSync(desiredFor([[servicePort(), [endpoint()]]]).kernel, observedState(), {
    behaviour: 'documented',
    excludeCIDRs: [],
    ownAddresses: [],
    wanted: { servers: new Set(), addresses: new Set() },
  });
  const messages = (parts: readonly PlanPart[], plan: Plan = good) =>
    checkPlan({ ...plan, parts }).map(({ message, of }) => `${of?.kind ?? 'all'}: ${message}`);

  it('finds nothing wrong with any plan for any Services', () =>
    fc.assert(
      fc.property(anyDesired(), ({ kernel }) => {
        const inputs = { behaviour: 'documented', excludeCIDRs: [], ownAddresses: [] } as const;
        const plan = planSync(kernel, observedState(), {
          ...inputs,
          wanted: { servers: new Set(), addresses: new Set() },
        });
        expect(checkPlan(plan)).to.deep.equal([]);
      }),
    ));

  const servers: readonly (readonly [string, Partial<VirtualServer>, string])[] = [
    ['another family', { address: ip('fd00::1') }, 'virtual server TCP [fd00::1]:80 is not of IPv4'],
    ['no address', { address: '1.2.3' as never }, 'virtual server TCP 1.2.3:80 is not of IPv4'],
    ['port 0', { port: 0 as Port }, 'virtual server TCP 172.20.1.1:0 has port 0'],
    ['two words', { scheduler: 'rr -p 1' }, 'virtual server TCP 172.20.1.1:80 has a scheduler that is no word'],
    ['odd flags', { schedulerFlags: ['a b'] }, 'virtual server TCP 172.20.1.1:80 has a scheduler that is no word'],
    ['half a second', { persistenceSeconds: 0.5 }, 'virtual server TCP 172.20.1.1:80 has persistence of 0.5 s'],
    ['33 days', { persistenceSeconds: 2_851_200 }, 'virtual server TCP 172.20.1.1:80 has persistence of 2851200 s'],
  ];
  for (const [name, given, message] of servers) {
    it(`refuses a virtual server with ${name}`, () => {
      const step = { kind: 'add-virtual-server', server: server([], given) } as const;
      expect(messages([{ tool: 'ipvs', steps: [step] }])).to.deep.equal([`virtual-server: ${message}`]);
    });
  }

  const reals: readonly (readonly [string, Partial<RealServer>, string])[] = [
    ['another family', { address: ip('fd00::1') }, '[fd00::1]:8080 with weight 1'],
    ['a weight too great', { weight: 65_536 }, '10.180.0.1:8080 with weight 65536'],
    ['a port too great', { port: 65_536 as Port }, '10.180.0.1:65536 with weight 1'],
  ];
  for (const [name, given, what] of reals) {
    it(`refuses a real server with ${name}`, () => {
      const step = { kind: 'add-real-server', server: server(), real: real('10.180.0.1', given) } as const;
      expect(messages([{ tool: 'ipvs', steps: [step] }])).to.deep.equal([
        `real-server: real server ${what} of TCP 172.20.1.1:80 cannot be`,
      ]);
    });
  }

  const entries: readonly (readonly [string, string])[] = [
    ['CLUSTER-IP', '172.20.1.1,tcp:0'],
    ['CLUSTER-IP', '172.20.1.1,icmp:80'],
    ['CLUSTER-IP', 'fd00::1,tcp:80'],
    ['CLUSTER-IP', '172.20.1.1,tcp:80,172.20.1.1'],
    ['IPVS-IPS', '172.20.1.1/24'],
    ['NODE-PORT-TCP', '70000'],
    ['LOOP-BACK', '172.20.1.1,tcp:80'],
    ['LOAD-BALANCER-SOURCE-CIDR', '172.20.1.1,tcp:80,0.0.0.0/0'],
    ['LOAD-BALANCER-SOURCE-CIDR', '172.20.1.1,tcp:80,10.0.0.0/33'],
    ['LOAD-BALANCER-SOURCE-CIDR', '172.20.1.1,tcp:80,10.0.0.0/8/8'],
  ];
  for (const [id, entry] of entries) {
    it(`refuses ${entry} in set ${id}`, () => {
      const set = setsWith('IPv4').get(`KUBE-${id}`);
      if (!set) throw new Error(`no set ${id}`);
      const step = { kind: 'add-entry', set, entry: entry as SetEntry } as const;
      expect(messages([{ tool: 'ipset', steps: [step] }])).to.deep.equal([
        `set-entry: ${entry} cannot be in set KUBE-${id}`,
      ]);
    });
  }

  it('refuses an address of the other family', () => {
    const step = { kind: 'bind-address', address: ip('fd00::1') } as const;
    expect(messages([{ tool: 'address', steps: [step] }])).to.deep.equal(['address: address fd00::1 is not of IPv4']);
  });

  it('refuses all rules when one names a set or a chain that is not there', () => {
    const rules = good.parts.filter(({ tool }) => tool === 'iptables');
    const without = {
      ...good,
      after: { ...good.after, sets: new Map([...good.after.sets].filter(([name]) => name !== 'KUBE-CLUSTER-IP')) },
    };
    expect(messages(rules, without)).to.include(
      'all: a rule of chain KUBE-SERVICES in table nat names set KUBE-CLUSTER-IP, which is not there',
    );
    const last = { tool: 'ipset', steps: [{ kind: 'destroy-set', name: 'KUBE-CLUSTER-IP' }] } as const;
    expect(messages([...rules, last], without), 'when it goes in the end').to.deep.equal([]);
    const jump = { from: 'INPUT', rule: '-m comment --comment x -j KUBE-NOWHERE', place: 'first' } as const;
    const change = { table: 'filter', chains: new Map(), jumps: [jump], removedJumps: [], removedChains: [] } as const;
    expect(
      messages([{ tool: 'iptables', family: 'IPv4', changes: [{ ...change, differing: ['INPUT'] }] }]),
    ).to.deep.equal(['all: a rule of chain INPUT in table filter leads to chain KUBE-NOWHERE, which is not there']);
  });
});
