import { expect } from 'chai';
import { emptyTables } from '../../src/kernel/iptables/diff.ts';
import type { ReadTable } from '../../src/kernel/iptables/state.ts';
import { ipvs, observedState, real, server, setsWith } from '../builders/kernel-states.ts';
import { ip, port } from '../builders/net.ts';
import type { BuiltInChain, BuiltInChains } from './chains.ts';
import { nodeDescription } from './fixtures.ts';
import type { Outcome } from './outcome.ts';
import { type GivenPacket, type TracedState, tracer } from './path.ts';

const MASQUERADE_MARKED = '-m mark --mark 0x1/0x1 -j MASQUERADE';
const MARK = '-j MARK --set-xmark 0x1/0x1';

/** TCP 172.20.1.1:80 with a pod of the node and one elsewhere, its address bound. */
function stateWith(
  nat: Readonly<Record<string, readonly string[]>> = {},
  given: Partial<TracedState> = {},
): TracedState {
  const table: ReadTable = new Map(Object.entries(nat));
  return {
    ...observedState(),
    ipvs: ipvs(server([real('10.180.0.11'), real('10.180.1.11')])),
    dummy: { exists: true, addresses: new Set([ip('172.20.1.1')]) },
    tables: { ...emptyTables(), nat: table },
    ...given,
  };
}

describe('test/trace/path', () => {
  const outside = { interface: 'eth0' };
  const client = ip('198.51.100.7');
  const vip = ip('172.20.1.1');
  const fromClient: GivenPacket = { protocol: 'TCP', source: client, destination: vip, port: 80, from: outside };
  const fromPod: GivenPacket = { ...fromClient, source: ip('10.180.0.12'), from: { interface: 'veth2' } };
  const fromNode: GivenPacket = { protocol: 'TCP', destination: vip, port: 80, from: 'process' };
  const ask = (state: TracedState, given: GivenPacket, builtIn: BuiltInChains = {}) =>
    tracer(state, nodeDescription({ builtIn }))(given).map(describeOutcome);

  describe('with a virtual server', () => {
    it('has one outcome for each real server that takes new connections', () => {
      const weights = ipvs(server([real('10.180.0.11'), real('10.180.0.12', { weight: 0 }), real('10.180.1.11')]));
      expect(ask(stateWith({}, { ipvs: weights }), fromPod)).to.deep.equal([
        'delivered 10.180.0.11:8080 from 10.180.0.12',
        'delivered 10.180.1.11:8080 from 10.180.0.12',
      ]);
      expect(ask(stateWith({}, { ipvs: weights }), { ...fromPod, state: 'ESTABLISHED' })).to.have.lengthOf(3);
    });

    it('says where no answer would come back', () => {
      expect(ask(stateWith(), fromClient)).to.deep.equal([
        'delivered 10.180.0.11:8080 from 198.51.100.7',
        'delivered 10.180.1.11:8080 from 198.51.100.7, unanswered',
      ]);
      expect(ask(stateWith(), fromNode)).to.deep.equal([
        'delivered 10.180.0.11:8080 from 172.20.1.1',
        'delivered 10.180.1.11:8080 from 172.20.1.1, unanswered',
      ]);
      const itself = { ...fromPod, source: ip('10.180.0.11'), from: { interface: 'veth1' } };
      expect(ask(stateWith(), itself)[0]).to.equal('delivered 10.180.0.11:8080 from 10.180.0.11, unanswered');
    });

    it("masquerades with the address of the interface, or the node's where that has none", () => {
      const nat = { PREROUTING: [MARK], OUTPUT: [MARK], POSTROUTING: [MASQUERADE_MARKED] };
      const servers = ipvs(server(['10.180.0.11', '10.180.0.12', '10.180.1.11'].map((address) => real(address))));
      const expected = [
        'delivered 10.180.0.11:8080 from 10.180.0.1, masqueraded',
        'delivered 10.180.0.12:8080 from 192.168.0.10, masqueraded',
        'delivered 10.180.1.11:8080 from 192.168.0.10, masqueraded',
      ];
      expect(ask(stateWith(nat, { ipvs: servers }), fromClient)).to.deep.equal(expected);
      expect(ask(stateWith(nat, { ipvs: servers }), fromNode)).to.deep.equal(expected);
    });

    it('does not masquerade what it hands to its own socket, as that never leaves', () => {
      const own = ipvs(server([real('192.168.0.10')]));
      const nat = { PREROUTING: [MARK], OUTPUT: [MARK], POSTROUTING: [MASQUERADE_MARKED] };
      expect(ask(stateWith(nat, { ipvs: own }), fromClient)).to.deep.equal([
        'delivered 192.168.0.10:8080 from 198.51.100.7',
      ]);
      expect(ask(stateWith(nat, { ipvs: own }), fromNode)).to.deep.equal([
        'delivered 192.168.0.10:8080 from 192.168.0.10, masqueraded',
      ]);
    });

    it('refuses without real servers and with none that takes new connections', () => {
      for (const reals of [[], [real('10.180.0.11', { weight: 0 })]]) {
        const state = stateWith({}, { ipvs: ipvs(server(reals)) });
        for (const given of [fromClient, fromPod, fromNode])
          expect(ask(state, given)).to.deep.equal(['refused by IPVS']);
      }
    });

    it('shows filter INPUT what the client wrote, and filter OUTPUT what IPVS made of it', () => {
      const drop = (address: string): BuiltInChain => ({ inserted: [`-d ${address}/32 -j DROP`] });
      const state = stateWith();
      expect(ask(state, fromClient, { INPUT: drop('172.20.1.1') })).to.deep.equal(['dropped by INPUT']);
      expect(ask(state, fromClient, { INPUT: drop('10.180.0.11') })).to.have.lengthOf(2);
      for (const given of [fromClient, fromNode]) {
        expect(ask(state, given, { OUTPUT: drop('172.20.1.1') })[0]).to.match(/^delivered 10\.180\.0\.11:8080/);
        expect(ask(state, given, { OUTPUT: drop('10.180.0.11') })[0]).to.equal('dropped by OUTPUT');
      }
      expect(ask(state, fromNode, { INPUT: drop('172.20.1.1') })[0]).to.match(/^delivered/);
    });

    it('lets OUTPUT know which virtual server a packet went to', () => {
      const rule = (port: number) => `-m ipvs --vproto 6 --vaddr 172.20.1.1 --vport ${port} -j DROP`;
      expect(ask(stateWith(), fromNode, { OUTPUT: { inserted: [rule(80)] } })[0]).to.equal('dropped by OUTPUT');
      expect(ask(stateWith(), fromNode, { OUTPUT: { inserted: [rule(81)] } })[0]).to.match(/^delivered/);
    });

    it('has no input interface behind IPVS', () => {
      const state = stateWith({ POSTROUTING: ['! -i eth0 -j MASQUERADE'] });
      expect(ask(state, fromClient)[0]).to.equal('delivered 10.180.0.11:8080 from 10.180.0.1, masqueraded');
    });

    it('keeps to what nat decided for the first packet, whose mark later ones do not carry', () => {
      const nat = { PREROUTING: [MARK], POSTROUTING: [MASQUERADE_MARKED] };
      const later: GivenPacket = { ...fromClient, state: 'ESTABLISHED' };
      expect(ask(stateWith(nat), later)[0]).to.equal('delivered 10.180.0.11:8080 from 10.180.0.1, masqueraded');
      const marked = { inserted: ['-m mark --mark 0x1/0x1 -j DROP'] };
      expect(ask(stateWith(nat), fromClient, { INPUT: marked })).to.deep.equal(['dropped by INPUT']);
      expect(ask(stateWith(nat), later, { INPUT: marked })).to.have.lengthOf(2);
    });

    it('is found by a process even while its address is not bound', () => {
      const state = stateWith({}, { dummy: { exists: true, addresses: new Set() } });
      expect(ask(state, fromNode)[0]).to.equal('delivered 10.180.0.11:8080 from 192.168.0.10');
      expect(ask(state, fromClient)).to.deep.equal(['forwarded 172.20.1.1:80 from 198.51.100.7']);
    });

    it('is another one by protocol', () => {
      const udp = ipvs(server([real('10.180.0.11')], { protocol: 'UDP' }));
      expect(ask(stateWith({}, { ipvs: udp }), { ...fromClient, protocol: 'UDP' })).to.have.lengthOf(1);
      expect(ask(stateWith({}, { ipvs: udp }), fromClient)).to.deep.equal(['refused by nobody listening']);
    });
  });

  describe('without a virtual server', () => {
    const node = ip('192.168.0.10');

    it('comes to the socket that listens there, or is refused', () => {
      const at = (destination: string, to: number) =>
        ask(stateWith(), { ...fromClient, destination: ip(destination), port: port(to) });
      expect(at('192.168.0.10', 10256)).to.deep.equal(['delivered 192.168.0.10:10256 from 198.51.100.7']);
      expect(at('172.20.1.1', 10256)).to.deep.equal(['delivered 172.20.1.1:10256 from 198.51.100.7']);
      expect(at('192.168.0.10', 22)).to.deep.equal(['delivered 192.168.0.10:22 from 198.51.100.7']);
      expect(at('172.20.1.1', 22)).to.deep.equal(['refused by nobody listening']);
    });

    it('passes OUTPUT, POSTROUTING and INPUT from the node to itself, with the address it dials as source', () => {
      const given: GivenPacket = { ...fromNode, destination: node, port: 10256 };
      expect(ask(stateWith(), given)).to.deep.equal(['delivered 192.168.0.10:10256 from 192.168.0.10']);
      const drop = { policy: 'DROP' } as const;
      expect(ask(stateWith(), given, { INPUT: drop })).to.deep.equal(['dropped by the policy of INPUT']);
      expect(ask(stateWith(), given, { OUTPUT: drop })).to.deep.equal(['dropped by the policy of OUTPUT']);
      const loopback: GivenPacket = { ...given, destination: ip('127.0.0.1') };
      expect(ask(stateWith(), loopback)).to.deep.equal(['delivered 127.0.0.1:10256 from 127.0.0.1']);
      expect(ask(stateWith(), loopback, { INPUT: { inserted: ['! -i lo -j DROP'] } })).to.have.lengthOf(1);
    });

    it('answers an echo request, also at a bound address', () => {
      const echo: GivenPacket = { protocol: 'ICMP', source: client, destination: vip, from: outside };
      expect(ask(stateWith(), echo)).to.deep.equal(['delivered 172.20.1.1:0 from 198.51.100.7']);
      const reject = '-p icmp -m icmp --icmp-type 8 -j REJECT --reject-with icmp-port-unreachable';
      expect(ask(stateWith(), echo, { INPUT: { inserted: [reject] } })).to.deep.equal(['refused by INPUT']);
    });

    it('is forwarded past filter FORWARD, to a pod of the node or away', () => {
      const toPod: GivenPacket = { ...fromClient, destination: ip('10.180.0.11'), port: 8080 };
      expect(ask(stateWith(), toPod)).to.deep.equal(['delivered 10.180.0.11:8080 from 198.51.100.7']);
      const away: GivenPacket = { ...fromPod, destination: client };
      expect(ask(stateWith(), away)).to.deep.equal(['forwarded 198.51.100.7:80 from 10.180.0.12']);
      expect(ask(stateWith({ POSTROUTING: ['-s 10.180.0.0/24 -j MASQUERADE'] }), away)).to.deep.equal([
        'forwarded 198.51.100.7:80 from 192.168.0.10, masqueraded',
      ]);
      expect(ask(stateWith(), away, { FORWARD: { policy: 'DROP' } })).to.deep.equal([
        'dropped by the policy of FORWARD',
      ]);
      expect(ask(stateWith(), away, { INPUT: { policy: 'DROP' }, OUTPUT: { policy: 'DROP' } })).to.have.lengthOf(1);
    });

    it('leaves the node with the address of the interface that leads there', () => {
      const to = (destination: string) => ask(stateWith(), { ...fromNode, destination: ip(destination) });
      expect(to('198.51.100.7')).to.deep.equal(['forwarded 198.51.100.7:80 from 192.168.0.10']);
      expect(to('10.180.0.11')).to.deep.equal(['delivered 10.180.0.11:80 from 10.180.0.1']);
    });
  });

  it('follows IPv6 with sets of IPv6', () => {
    const reject = '-m set --match-set KUBE-6-IPVS-IPS dst -j REJECT --reject-with icmp6-port-unreachable';
    const state: TracedState = {
      ...stateWith({}, { dummy: { exists: true, addresses: new Set([ip('fd00:20::1')]) } }),
      family: 'IPv6',
      sets: setsWith('IPv6', { 'IPVS-IPS': ['fd00:20::1'] }),
      ipvs: ipvs(server([real('fd00:180::11')], { address: ip('fd00:20::1') })),
    };
    const given: GivenPacket = { ...fromClient, source: ip('2001:db8::7'), destination: ip('fd00:20::1') };
    expect(ask(state, given)).to.deep.equal(['delivered fd00:180::11:8080 from 2001:db8::7, unanswered']);
    expect(ask(state, given, { INPUT: { inserted: [reject] } })).to.deep.equal(['refused by INPUT']);
    expect(ask(state, { ...fromNode, destination: ip('2001:db8::7') })).to.deep.equal([
      'forwarded 2001:db8::7:80 from fd00:168::10',
    ]);
  });

  const noSuch: readonly (readonly [string, GivenPacket, string])[] = [
    ['of another family', { ...fromClient, destination: ip('fd00::1') }, 'in IPv4'],
    ['without a port', { protocol: 'TCP', source: client, destination: vip, from: outside }, 'port 0 of TCP'],
    ['with a port of ICMP', { ...fromClient, protocol: 'ICMP' }, 'port 80 of ICMP'],
    ['by an unknown interface', { ...fromClient, from: { interface: 'eth9' } }, 'no interface eth9'],
    ['from outside without a source', { protocol: 'TCP', destination: vip, port: 80, from: outside }, 'no source'],
    ["from outside with the node's source", { ...fromClient, source: vip }, "the node's own"],
    ['from a process with a source of others', { ...fromNode, source: client }, 'not of the node'],
  ];
  for (const [name, given, message] of noSuch) {
    it(`refuses a packet ${name}`, () => expect(() => ask(stateWith(), given)).to.throw(message));
  }

  it('refuses a way of forwarding that is not by NAT', () => {
    const state = stateWith({}, { ipvs: ipvs(server([real('10.180.0.11', { forwarding: 'route' })])) });
    expect(() => ask(state, fromClient)).to.throw('forwarding route');
  });

  it('refuses masquerading before routing', () =>
    expect(() => ask(stateWith({ PREROUTING: ['-j MASQUERADE'] }), fromClient)).to.throw('from PREROUTING'));
});

function describeOutcome(outcome: Outcome): string {
  if ('by' in outcome) return `${outcome.kind} by ${outcome.by}`;
  const { kind, destination, port: to, source, masqueraded, answered } = outcome;
  return `${kind} ${destination}:${to} from ${source}${masqueraded ? ', masqueraded' : ''}${answered ? '' : ', unanswered'}`;
}
