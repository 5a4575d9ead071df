import { expect } from 'chai';
import fc from 'fast-check';
import { anyDesired, desiredFor } from '../../test/builders/desired.ts';
import { applyIpvsSteps, withoutConnections } from '../../test/builders/ipvs-steps.ts';
import { observedState, real, server } from '../../test/builders/kernel-states.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { applyDummySteps } from '../kernel/dummy/diff.ts';
import { dummyOf, parseAddressShow } from '../kernel/dummy/parse.ts';
import { type SetId, setName } from '../kernel/ipset/definitions.ts';
import { applyIpsetSteps } from '../kernel/ipset/diff.ts';
import { parseIpsetSave } from '../kernel/ipset/parse.ts';
import { renderIpsetState } from '../kernel/ipset/render.ts';
import { addressPortEntry, type SetEntry } from '../kernel/ipset/state.ts';
import { applyTableChanges } from '../kernel/iptables/diff.ts';
import { parseIpvsSave } from '../kernel/ipvs/parse-save.ts';
import { renderIpvsState } from '../kernel/ipvs/render.ts';
import { realServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { OwnershipInputs } from './ownership.ts';
import { type Plan, type PlanPart, planSync } from './plan-sync.ts';
import { renderPlanPart } from './scripts.ts';

const INPUTS: OwnershipInputs = {
  behaviour: 'documented',
  excludeCIDRs: [],
  ownAddresses: [ip('192.168.0.10')],
  wanted: { servers: new Set(), addresses: new Set() },
};

describe('plan/plan-sync', () => {
  const http = servicePort({ externalIPs: [ip('203.0.113.1')] });
  const dns = servicePort({ name: 'kube-system/dns', clusterIP: ip('172.20.0.10'), port: port(53), protocol: 'UDP' });
  const OUTSIDE = ip('203.0.113.1');
  const nothing = desiredFor([]).kernel;
  const cart = desiredFor([[http, [endpoint()]]]).kernel;
  const inside = desiredFor([[servicePort(), [endpoint()]]]).kernel;

  it('makes sets and rules before virtual servers, and those before their addresses', () => {
    expect(summary(planSync(cart, observedState(), INPUTS))).to.deep.equal([
      'ipset create-set, add-entry',
      'iptables nat, filter',
      'ipvs add-virtual-server, add-real-server',
      'address create-interface, bind-address',
    ]);
  });

  it('takes away the other way round: addresses, virtual servers, rules, sets', () => {
    expect(summary(planSync(nothing, reached(cart), INPUTS))).to.deep.equal([
      'address unbind-address',
      'ipvs delete-virtual-server',
      'iptables nat',
      'ipset delete-entry',
    ]);
  });

  it('keeps an address that stays for a while, and shuts it before its virtual servers go', () => {
    const plan = planSync(nothing, reached(cart), INPUTS, {
      staysBound: (address, isCut) => isCut && address === OUTSIDE,
    });
    expect(summary(plan)).to.deep.equal([
      'address unbind-address',
      'ipvs delete-real-server',
      'ipset delete-entry',
      'ipvs delete-virtual-server',
      'iptables nat',
      'ipset delete-entry',
    ]);
    expect([...plan.closing]).to.deep.equal([OUTSIDE]);
    expect([...plan.after.dummy.addresses]).to.deep.equal([OUTSIDE]);
    expect([...(plan.after.sets.get('KUBE-IPVS-IPS')?.entries ?? [])]).to.deep.equal([OUTSIDE]);
    expect(plan.parts[2] && renderPlanPart(plan.parts[2]).text).to.equal('del KUBE-EXTERNAL-IP 203.0.113.1,6:80\n');
    expect(withoutConnections(plan.after.ipvs)).to.deep.equal(new Map());
  });

  it('shuts a frontend before its virtual server goes where another one keeps the address', () => {
    const other = servicePort({
      name: 'shop/other',
      clusterIP: ip('172.20.1.9'),
      port: port(81),
      externalIPs: [OUTSIDE],
    });
    const both = desiredFor([
      [http, [endpoint()]],
      [other, [endpoint()]],
    ]).kernel;
    const plan = planSync(cart, reached(both), INPUTS);
    expect(summary(plan)).to.deep.equal([
      'address unbind-address',
      'ipvs delete-real-server',
      'ipset delete-entry',
      'ipvs delete-virtual-server',
      'ipset delete-entry',
    ]);
    expect(plan.parts[2] && renderPlanPart(plan.parts[2]).text).to.equal('del KUBE-EXTERNAL-IP 203.0.113.1,6:81\n');
  });

  it('makes a virtual server empty before it opens it where the address stands already', () => {
    const { after } = planSync(nothing, reached(cart), INPUTS, { staysBound: () => true });
    expect(summary(planSync(cart, after, INPUTS))).to.deep.equal([
      'ipvs add-virtual-server',
      'ipset add-entry',
      'iptables nat',
      'ipvs add-real-server',
    ]);
  });

  it('shuts a frontend that was left without a virtual server before its address comes', () => {
    const present = reached(cart);
    const left = { ...present, ipvs: new Map(), dummy: { exists: true, addresses: new Set<never>() } };
    const plan = planSync(inside, left, INPUTS);
    expect(summary(plan)).to.deep.equal([
      'ipset delete-entry',
      'iptables nat',
      'ipvs add-virtual-server, add-real-server',
      'address bind-address',
      'iptables nat',
      'ipset delete-entry',
    ]);
    expect(plan.parts[0] && renderPlanPart(plan.parts[0]).text).to.equal('del KUBE-EXTERNAL-IP 203.0.113.1,6:80\n');
  });

  it('empties what is closed to the node before its address goes', () => {
    const closed = servicePort({
      loadBalancerVIPs: [ip('198.51.100.1')],
      loadBalancerSourceRanges: [cidr('10.0.0.0/8')],
    });
    const balanced = desiredFor([[closed, [endpoint()]]]).kernel;
    const emptied = planSync(nothing, reached(balanced), INPUTS).parts.slice(0, 2);
    expect(emptied.map((part) => renderPlanPart(part).text)).to.deep.equal([
      '-d -t 198.51.100.1:80 -r 10.180.1.1:8080\n',
      'address delete 172.20.1.1/32 dev kube-ipvs0\naddress delete 198.51.100.1/32 dev kube-ipvs0\n',
    ]);
  });

  it('takes an address that has stayed for a while away later, with what kept it shut', () => {
    const { after } = planSync(nothing, reached(cart), INPUTS, { staysBound: () => true });
    expect(summary(planSync(nothing, after, INPUTS))).to.deep.equal(['address unbind-address', 'ipset delete-entry']);
    expect(summary(planSync(nothing, after, INPUTS, { staysBound: () => true }))).to.deep.equal([]);
    expect(summary(planSync(nothing, after, INPUTS, { staysBound: (_, isCut) => isCut }))).to.have.lengthOf(2);
  });

  it('makes what is new before it takes away what is old', () => {
    const plan = planSync(desiredFor([[dns, [endpoint()]]]).kernel, reached(cart), INPUTS);
    expect(summary(plan)).to.deep.equal([
      'ipset add-entry',
      'iptables nat',
      'ipvs add-virtual-server, add-real-server',
      'address bind-address, unbind-address',
      'ipvs delete-virtual-server',
      'iptables nat',
      'ipset delete-entry',
    ]);
  });

  it('writes rules before a virtual server comes, even where nothing else is missing', () => {
    const { sets, dummy } = reached(cart);
    expect(summary(planSync(cart, observedState({ sets, dummy }), INPUTS))).to.deep.equal([
      'iptables nat, filter',
      'ipvs add-virtual-server, add-real-server',
    ]);
  });

  it('has the rules of other settings beside the old ones while endpoints come and go', () => {
    const moved = desiredFor([[http, [endpoint({ address: ip('10.180.1.2') })]]], { masqueradeAll: true }).kernel;
    const plan = planSync(moved, reached(cart), INPUTS);
    expect(summary(plan)).to.deep.equal(['iptables nat', 'ipvs add-real-server, edit-real-server', 'iptables nat']);
    const [early, late] = plan.parts.flatMap((part) => (part.tool === 'iptables' ? part.changes : []));
    const rules = (change = early) => change?.chains.get('KUBE-SERVICES') ?? [];
    const stood = cart.tables.nat.chains.get('KUBE-SERVICES') ?? [];
    expect(new Set(rules(early))).to.deep.equal(new Set([...stood, ...rules(late)]));
    expect(rules(late)).to.deep.equal(moved.tables.nat.chains.get('KUBE-SERVICES'));
  });

  it('joins neighbours of one tool into one process', () => {
    const moved = desiredFor([[http, [endpoint({ address: ip('10.180.1.2') })]]]).kernel;
    expect(summary(planSync(moved, reached(cart), INPUTS))).to.deep.equal(['ipvs add-real-server, edit-real-server']);
  });

  it('joins the two ends of the sets where nothing else is to be done', () => {
    const [one, other] = ['10.180.0.1', '10.180.0.2'].map((address) => [
      endpoint({ address: ip(address), local: true, ready: false, serving: false }),
    ]);
    const plan = planSync(
      desiredFor([[http, other ?? []]]).kernel,
      reached(desiredFor([[http, one ?? []]]).kernel),
      INPUTS,
    );
    expect(summary(plan)).to.deep.equal(['ipset add-entry, delete-entry']);
  });

  it('has no part where nothing is to be done', () => {
    const plan = planSync(cart, reached(cart), INPUTS);
    expect([plan.parts, plan.kept, plan.foreignAddresses]).to.deep.equal([[], [], []]);
    expect(plan.after).to.deep.equal(reached(cart));
  });

  it('tells what stays and why', () => {
    const theirs = server([], { address: ip('172.20.9.9') });
    const busy = server([real('10.180.1.1'), real('10.180.1.9', { connections: 2 })]);
    const present = reached(cart);
    const observed = {
      ...present,
      ipvs: new Map(present.ipvs).set(virtualServerKey(busy), busy).set(virtualServerKey(theirs), theirs),
      dummy: { exists: true, addresses: new Set(present.dummy.addresses).add(ip('172.20.9.10')) },
    };
    const plan = planSync(cart, observed, INPUTS);
    expect(plan.kept.map(({ why, server: { address } }) => `${why} ${address}`)).to.deep.equal([
      'draining 172.20.1.1',
      'foreign 172.20.9.9',
    ]);
    expect(plan.foreignAddresses).to.deep.equal(['172.20.9.10']);
    expect(summary(plan)).to.deep.equal(['ipvs edit-real-server']);
  });

  it('takes rules off a set of another type, makes the set anew, and writes the rules again, as the kernel demands', async () => {
    const kernel = memoryKernel({});
    await runParts(kernel, planSync(cart, observedState(), INPUTS));
    const rules = kernel.tables.IPv4.save();
    const [name, odd] = ['KUBE-CLUSTER-IP', 'KUBE-EXCHANGE'];
    const sets = new Map(reached(cart).sets);
    sets.set(name, { name, type: 'hash:ip', family: 'IPv4', maxEntries: 65536, oddities: [], entries: new Set() });
    kernel.ipsets.restore(`create ${odd} hash:ip family inet hashsize 1024 maxelem 65536\n`);
    sets.set(odd, { name: odd, type: 'hash:ip', family: 'IPv4', maxEntries: 65536, oddities: [], entries: new Set() });
    const plan = planSync(cart, { ...reached(cart), sets }, INPUTS);
    expect(summary(plan)).to.deep.equal([
      'iptables nat, filter',
      'ipset destroy-set, create-set, add-entry',
      'iptables nat, filter',
    ]);
    await runParts(kernel, plan);
    expect(kernel.tables.IPv4.save()).to.equal(rules);
    expect(texts({ ...plan.after, ...readBack(kernel) })).to.deep.equal(texts(cart));
    expect(planSync(cart, plan.after, INPUTS).parts).to.deep.equal([]);
  });

  it('goes from one behaviour to the other and leaves nothing of it behind', async () => {
    const kernel = memoryKernel({ eth0: ['192.168.0.10/24'] });
    let known = observedState();
    const texts: string[] = [];
    for (const behaviour of ['kube-proxy', 'documented', 'kube-proxy'] as const) {
      const plan = planSync(desiredFor([[http, [endpoint()]]], { behaviour }).kernel, known, { ...INPUTS, behaviour });
      await runParts(kernel, plan);
      known = plan.after;
      texts.push(`${[...kernel.ipsets.save().split('\n')].sort().join('\n')}${kernel.tables.IPv4.save()}`);
    }
    const [before, between, after] = texts;
    expect(between).to.include('KUBE-IPVS-ACCEPT');
    expect(between).to.include('KUBE-EXTERNAL-NO-LOCAL');
    expect(after).to.equal(before);
  });

  it('leads the kernel from any Services to any others, to what it says it will be, and then has nothing to do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyDesired(), { minLength: 2, maxLength: 4 }), async (states) => {
        const kernel = memoryKernel({ eth0: ['192.168.0.10/24'] });
        let known = observedState();
        for (const { kernel: wanted } of states) {
          const plan = planSync(wanted, known, INPUTS);
          await runParts(kernel, plan);
          const drained = planSync(wanted, idle(plan.after), INPUTS);
          await runParts(kernel, drained);
          known = drained.after;
          expect(texts(known)).to.deep.equal(texts(wanted));
          expect(texts({ ...known, ...readBack(kernel) })).to.deep.equal(texts(wanted));
          expect(planSync(wanted, known, INPUTS).parts).to.deep.equal([]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('never shows a packet a half-made service, wherever it is broken off', () =>
    fc.assert(
      fc.property(anyDesired(), anyDesired(), ({ kernel: before }, { kernel: wanted }) => {
        const start = reached(before);
        let state = start;
        for (const step of singleSteps(planSync(wanted, start, INPUTS))) {
          state = applyPart(state, step);
          for (const [key, { address, realServers }] of wanted.ipvs) {
            const isNew = wanted.dummy.addresses.has(address) && !start.dummy.addresses.has(address);
            const isBound = state.dummy.addresses.has(address);
            if (isNew && isBound)
              expect(state.ipvs.get(key)?.realServers.map(realServerKey) ?? []).to.include.members(
                realServers.map(realServerKey),
              );
            if (start.ipvs.has(key)) expect(state.ipvs.has(key)).to.equal(true);
          }
          for (const [key, { address }] of start.ipvs) {
            const isUnwantedAddress = start.dummy.addresses.has(address) && !wanted.dummy.addresses.has(address);
            if (isUnwantedAddress && state.dummy.addresses.has(address)) expect(state.ipvs.has(key)).to.equal(true);
          }
          for (const [key, { address, protocol, port: at }] of [...start.ipvs, ...wanted.ipvs]) {
            const isPast = (id: SetId) => has(state, id, addressPortEntry(address, protocol, at));
            if (state.dummy.addresses.has(address) && PORTALS.some(isPast)) expect(state.ipvs.has(key)).to.equal(true);
          }
          for (const address of state.dummy.addresses) {
            expect(state.sets.get('KUBE-IPVS-IPS')?.entries.has(address as never)).to.equal(true);
          }
        }
        expect(texts(planSync(wanted, idle(state), INPUTS).after)).to.deep.equal(texts(wanted));
      }),
    ));

  it('can be taken up again wherever it was broken off, without what the last pass wanted', () =>
    fc.assert(
      fc.property(anyDesired(), anyDesired(), fc.nat(), ({ kernel: before }, { kernel: wanted }, at) => {
        const steps = singleSteps(planSync(wanted, reached(before), INPUTS));
        const broken = steps.slice(0, at % (steps.length + 1)).reduce(applyPart, reached(before));
        const again = planSync(wanted, broken, INPUTS);
        const plan = planSync(wanted, idle(again.after), INPUTS);
        expect(texts(plan.after)).to.deep.equal(texts(wanted));
        expect([plan.kept, again.foreignAddresses, plan.foreignAddresses]).to.deep.equal([[], [], []]);
      }),
    ));
});

const COMMANDS = {
  ipvs: ['ipvsadm', '-R'],
  ipset: ['ipset', '-exist', 'restore'],
  address: ['ip', '-force', '-batch', '-'],
  iptables: ['iptables-restore', '-w', '5', '--noflush'],
  ip6tables: ['ip6tables-restore', '-w', '5', '--noflush'],
} as const;

/** Sets whose frontends the filter lets in; without a virtual server there, whatever else listens on the node would get their clients. */
const PORTALS = ['CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL', 'LOAD-BALANCER'] as const;

function has({ sets, family }: ObservedState, id: SetId, entry: SetEntry): boolean {
  return sets.get(setName(id, family))?.entries.has(entry) ?? false;
}

/** What an empty node shows once it has all that is wanted. */
function reached(wanted: KernelState): ObservedState {
  return planSync(wanted, observedState(), INPUTS).after;
}

/** The same when every connection has ended. */
function idle(state: ObservedState): ObservedState {
  return { ...state, ipvs: withoutConnections(state.ipvs) };
}

async function runParts(kernel: MemoryKernel, { parts }: Plan): Promise<void> {
  for (const part of parts) {
    const { tool, text } = renderPlanPart(part);
    const [name = '', ...args] = COMMANDS[tool];
    const ran = await kernel.runTool({ tool: name as 'ip', args, input: text, timeoutMs: 1 });
    expect(ran).to.deep.equal({ ok: true, value: { stdout: '', stderr: '' } });
  }
}

/** Each part as its tool and the kinds of its steps, without repetitions. */
function summary({ parts }: Plan): string[] {
  return parts.map((part) => {
    const kinds =
      part.tool === 'iptables' ? part.changes.map(({ table }) => table) : part.steps.map(({ kind }) => kind);
    return `${part.tool} ${[...new Set<string>(kinds)].join(', ')}`;
  });
}

function singleSteps({ parts }: Plan): PlanPart[] {
  return parts.flatMap((part): PlanPart[] => {
    switch (part.tool) {
      case 'iptables':
        return part.changes.map((change) => ({ ...part, changes: [change] }));
      case 'ipset':
        return part.steps.map((step) => ({ tool: 'ipset', steps: [step] }));
      case 'ipvs':
        return part.steps.map((step) => ({ tool: 'ipvs', steps: [step] }));
      default:
        return part.steps.map((step) => ({ tool: 'address', steps: [step] }));
    }
  });
}

function applyPart(state: ObservedState, part: PlanPart): ObservedState {
  switch (part.tool) {
    case 'iptables':
      return { ...state, tables: applyTableChanges(state.tables, part.changes) };
    case 'ipset':
      return { ...state, sets: applyIpsetSteps(state.sets, part.steps) };
    case 'ipvs':
      return { ...state, ipvs: applyIpvsSteps(state.ipvs, part.steps) };
    default:
      return { ...state, dummy: applyDummySteps(state.dummy, part.steps) };
  }
}

function readBack(kernel: ReturnType<typeof memoryKernel>): Pick<ObservedState, 'ipvs' | 'sets' | 'dummy'> {
  return {
    ipvs: parseIpvsSave(kernel.ipvs.save()) ?? new Map(),
    sets: parseIpsetSave(kernel.ipsets.save()) ?? new Map(),
    dummy: dummyOf(parseAddressShow(kernel.addresses.show()) ?? new Map()),
  };
}

function texts({ ipvs, sets, dummy }: Pick<KernelState, 'ipvs' | 'sets' | 'dummy'>) {
  return [renderIpvsState(ipvs), renderIpsetState(sets), [...dummy.addresses].sort()];
}
