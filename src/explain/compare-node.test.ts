import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { ipvs, observedState, real, server } from '../../test/builders/kernel-states.ts';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { Desired } from '../desired/desired.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import type { RealServer, VirtualServer } from '../kernel/ipvs/state.ts';
import { realServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { type CompareSettings, compareNode } from './compare-node.ts';

const SETTINGS: CompareSettings = { behaviour: 'documented', excludeCIDRs: [], drainsDeleted: false };
const KEY = 'shop/cart:http/TCP';
const SERVER = 'TCP 172.20.1.1:80';

describe('explain/compare-node', () => {
  const endpoints = [1, 2].map((last) => endpoint({ address: ip(`10.180.0.${last}`) }));
  const desired = desiredFor([[servicePort(), endpoints]]);

  /** The node as a pass has left it for these endpoints. */
  function programmed(given: Desired = desired): ObservedState {
    return compareNode(given, observedState(), SETTINGS).plan.after;
  }

  /** The same with another virtual server in place of the only one. */
  function withServer(change: (server: VirtualServer) => VirtualServer): ObservedState {
    const state = programmed();
    const servers = [...state.ipvs.values()].map(change);
    return { ...state, ipvs: new Map(servers.map((each) => [virtualServerKey(each), each])) };
  }

  function withReal(given: RealServer): ObservedState {
    const others = (reals: readonly RealServer[]) => reals.filter((it) => realServerKey(it) !== realServerKey(given));
    return withServer((each) => ({ ...each, realServers: [...others(each.realServers), given] }));
  }

  const said = (observed: ObservedState, wanted = desired, settings = SETTINGS) =>
    compareNode(wanted, observed, settings)
      .changes.filter(({ tool }) => tool !== 'iptables')
      .map(({ action, thing, services, why }) => [action, thing, services.join(), why]);

  it('finds nothing where everything is as wanted', () => {
    const { changes, leftAlone, troubles, plan } = compareNode(desired, programmed(), SETTINGS);
    expect([changes, leftAlone, troubles, plan.parts]).to.deep.equal([[], [], [], []]);
  });

  it('tells of weights, forwarding, schedulers and persistence that differ', () => {
    const weight = withReal(real('10.180.0.1', { weight: 7, forwarding: 'route' }));
    expect(said(weight)).to.deep.equal([
      ['change', `real server 10.180.0.1:8080 of ${SERVER}`, KEY, 'weight 7 → 1, forwarding route → masquerade'],
    ]);
    const server = withServer((each) => ({
      ...each,
      scheduler: 'sh',
      schedulerFlags: ['sh-port'],
      persistenceSeconds: 60,
    }));
    expect(said(server)).to.deep.equal([
      [
        'change',
        `virtual server ${SERVER}`,
        KEY,
        'scheduler sh → rr, scheduler flags sh-port → none, persistence 60 s → none',
      ],
    ]);
  });

  it('does not compare scheduler flags that the reading does not tell', () => {
    expect(said(withServer((each) => ({ ...each, schedulerFlags: undefined })))).to.deep.equal([]);
  });

  it('tells what is missing, with the Service that wants it', () => {
    const state = programmed();
    const withoutServer = { ...state, ipvs: new Map(), dummy: { exists: true, addresses: new Set<never>() } };
    expect(said(withoutServer)).to.deep.equal([
      ['add', `virtual server ${SERVER}`, KEY, ''],
      ['add', `real server 10.180.0.1:8080 of ${SERVER}`, KEY, ''],
      ['add', `real server 10.180.0.2:8080 of ${SERVER}`, KEY, ''],
      ['add', 'address 172.20.1.1 on kube-ipvs0', KEY, ''],
    ]);
  });

  describe('a real server that is not wanted', () => {
    const before = (given: Partial<Endpoint>) =>
      desiredFor([[servicePort(), [...endpoints, endpoint({ address: ip('10.180.0.3'), ...given })]]]);
    const cases = [
      { name: 'is of nobody', given: undefined, why: 'no endpoint of its Service' },
      { name: 'is not ready', given: { ready: false }, why: 'not ready' },
      {
        name: 'terminates while others are ready',
        given: { ready: false, terminating: true },
        why: 'terminating, while others are ready',
      },
    ];
    for (const { name, given, why } of cases) {
      it(`begins to drain for a reason: it ${name}`, () => {
        const wanted = given ? before(given) : desired;
        expect(said(withReal(real('10.180.0.3')), wanted)).to.deep.equal([
          ['change', `real server 10.180.0.3:8080 of ${SERVER}`, KEY, `weight 1 → 0, to drain: ${why}`],
        ]);
      });
    }

    for (const [connections, left] of [
      [0, ', 0 connections left'],
      [1, ', 1 connection left'],
      [undefined, ''],
    ] as const) {
      it(`is left alone while it drains, with ${connections ?? 'uncounted'} connections`, () => {
        const counted = connections === undefined ? {} : { connections };
        const compared = compareNode(desired, withReal(real('10.180.0.3', { weight: 0, ...counted })), SETTINGS);
        expect([compared.changes, compared.plan.parts]).to.deep.equal([[], []]);
        expect(compared.leftAlone).to.deep.equal([
          { thing: `real server 10.180.0.3:8080 of ${SERVER}`, why: `draining${left}` },
        ]);
      });
    }

    it('goes at once where its protocol knows no end of a connection', () => {
      const udp = servicePort({ protocol: 'UDP', port: port(53) });
      const wanted = desiredFor([[udp, endpoints]]);
      const state = programmed(wanted);
      const [server] = state.ipvs.values();
      if (!server) throw new Error('no virtual server');
      const extra = real('10.180.0.3', { weight: 0, connections: 4 });
      const realServers = [...server.realServers, extra];
      expect(said({ ...state, ipvs: ipvs({ ...server, realServers }) }, wanted)).to.deep.equal([
        [
          'remove',
          'real server 10.180.0.3:8080 of UDP 172.20.1.1:53',
          'shop/cart:http/UDP',
          'no endpoint of its Service',
        ],
      ]);
    });
  });

  it('takes away what no Service has, as far as a set tells that it is ours', () => {
    const nothing = desiredFor([]);
    expect(said(programmed(), nothing)).to.deep.equal([
      ['remove', 'entry 172.20.1.1,tcp:80 of set KUBE-CLUSTER-IP', '', 'nothing needs it'],
      ['remove', 'entry 172.20.1.1 of set KUBE-IPVS-IPS', '', 'nothing needs it'],
      ['remove', `virtual server ${SERVER}`, '', 'no Service has it; 2 real servers go with it'],
      ['remove', 'address 172.20.1.1 on kube-ipvs0', '', 'no Service has it'],
    ]);
  });

  it('leaves alone what belongs to others', () => {
    const state = programmed();
    const other = server([real('192.0.2.25')], { address: ip('198.51.100.9'), port: port(25) });
    const observed = {
      ...state,
      ipvs: new Map([...state.ipvs, ...ipvs(other)]),
      dummy: { exists: true, addresses: new Set([...state.dummy.addresses, ip('192.0.2.77')]) },
    };
    const { changes, leftAlone } = compareNode(desired, observed, SETTINGS);
    expect(changes).to.deep.equal([]);
    expect(leftAlone).to.deep.equal([
      { thing: 'virtual server TCP 198.51.100.9:25', why: 'foreign' },
      { thing: 'address 192.0.2.77 on kube-ipvs0', why: 'foreign' },
    ]);
  });

  it('lets the virtual server of a deleted Service linger where it is asked to', () => {
    const other = servicePort({ name: 'shop/other', clusterIP: ip('172.20.1.2') });
    const wanted = desiredFor([[other, []]]);
    const state = programmed(
      desiredFor([
        [servicePort(), endpoints],
        [other, []],
      ]),
    );
    const idle = (each: VirtualServer) => each.realServers.map((it) => ({ ...it, weight: 0, connections: 3 }));
    const servers = new Map([...state.ipvs].map(([key, each]) => [key, { ...each, realServers: idle(each) }]));
    const busy = { ...state, ipvs: servers };
    const { changes, leftAlone } = compareNode(wanted, busy, { ...SETTINGS, drainsDeleted: true });
    expect(changes).to.deep.equal([]);
    expect(leftAlone).to.deep.include({
      thing: `virtual server ${SERVER}`,
      why: 'its Service is deleted; it lingers until its connections have ended',
    });
    const taken = { ...wanted, node: { ...wanted.node, otherNodeAddresses: new Set([ip('172.20.1.1')]) } };
    expect(compareNode(taken, busy, { ...SETTINGS, drainsDeleted: true }).changes.length).to.be.above(0);
    expect(said(busy, wanted)[0]).to.deep.equal([
      'remove',
      'entry 172.20.1.1,tcp:80 of set KUBE-CLUSTER-IP',
      '',
      'nothing needs it',
    ]);
  });

  it('tells of rules one by one, and of their order', () => {
    const state = programmed();
    const nat = new Map(state.tables.nat);
    const [first = '', ...others] = nat.get('KUBE-POSTROUTING') ?? [];
    const withChain = (rules: readonly string[]) => ({
      ...state,
      tables: { ...state.tables, nat: new Map(nat).set('KUBE-POSTROUTING', rules) },
    });
    const rules = (observed: ObservedState) =>
      compareNode(desired, observed, SETTINGS).changes.map(({ action, thing, why }) => [action, thing, why]);
    const chain = 'chain KUBE-POSTROUTING of table nat';
    expect(rules(withChain([...others, first]))).to.deep.equal([['change', chain, 'rules in another order']]);
    expect(rules(withChain([...others, '-j ACCEPT']))).to.deep.equal([
      ['add', `rule in ${chain}: ${first}`, ''],
      ['remove', `rule in ${chain}: -j ACCEPT`, 'it does not belong there'],
    ]);
  });

  it('tells of a set that has to be made anew, and of what stands in the way', () => {
    const state = programmed();
    const set = state.sets.get('KUBE-CLUSTER-IP');
    if (!set) throw new Error('no such set');
    const withSet = (given: Partial<typeof set>) => ({
      ...state,
      sets: new Map(state.sets).set(set.name, { ...set, ...given }),
    });
    expect(said(withSet({ oddities: ['timeout 60'] }))).to.deep.equal([
      ['change', 'set KUBE-CLUSTER-IP', '', 'options timeout 60 → none'],
    ]);
    const other = withSet({ type: 'hash:net', entries: new Set<SetEntry>() });
    const blocked = {
      ...other,
      tables: {
        ...other.tables,
        filter: new Map(other.tables.filter).set('OTHERS', ['-m set --match-set KUBE-CLUSTER-IP dst -j DROP']),
      },
    };
    expect(compareNode(desired, blocked, SETTINGS).troubles).to.deep.equal([
      'set KUBE-CLUSTER-IP has another type and is named by a rule of chain OTHERS in table filter; take that rule out',
    ]);
  });
});
