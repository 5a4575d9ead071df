import { expect } from 'chai';
import { ipvs, observedState, server, setsWith } from '../../test/builders/kernel-states.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { type VirtualServer, virtualServerKey } from '../kernel/ipvs/state.ts';
import { type OwnershipInputs, ownership } from './ownership.ts';

const INPUTS: OwnershipInputs = {
  behaviour: 'documented',
  excludeCIDRs: [],
  ownAddresses: [ip('172.20.1.1')],
  wanted: { servers: new Set(), addresses: new Set() },
};

describe('plan/ownership', () => {
  const tcp = server();
  const ledgers: readonly (readonly [string, string, string, VirtualServer, 'yes' | 'foreign'])[] = [
    ['CLUSTER-IP', '172.20.1.1,tcp:80', 'its address and port', tcp, 'yes'],
    ['EXTERNAL-IP', '172.20.1.1,tcp:80', 'its address and port', tcp, 'yes'],
    ['EXTERNAL-IP-LOCAL', '172.20.1.1,tcp:80', 'its address and port', tcp, 'yes'],
    ['LOAD-BALANCER', '172.20.1.1,tcp:80', 'its address and port', tcp, 'yes'],
    ['NODE-PORT-SCTP-HASH', '172.20.1.1,sctp:80', 'its address and port', server([], { protocol: 'SCTP' }), 'yes'],
    ['NODE-PORT-TCP', '80', 'its port', tcp, 'yes'],
    ['NODE-PORT-UDP', '80', 'its port', server([], { protocol: 'UDP' }), 'yes'],
    ['CLUSTER-IP', '172.20.1.1,udp:80', 'another protocol', tcp, 'foreign'],
    ['CLUSTER-IP', '172.20.1.1,tcp:81', 'another port', tcp, 'foreign'],
    ['CLUSTER-IP', '172.20.1.2,tcp:80', 'another address', tcp, 'foreign'],
    ['NODE-PORT-UDP', '80', 'its port for another protocol', tcp, 'foreign'],
    [
      'NODE-PORT-TCP',
      '80',
      'its port, but it is on no address of the node',
      server([], { address: ip('203.0.113.5') }),
      'foreign',
    ],
    ['NODE-PORT-TCP', '80', 'its port for another protocol', server([], { protocol: 'SCTP' }), 'foreign'],
    ['LOOP-BACK', '172.20.1.1,tcp:80,172.20.1.1', 'an endpoint at its address', tcp, 'foreign'],
    ['IPVS-IPS', '172.20.1.1', 'its address only', tcp, 'yes'],
    ['IPVS-IPS', '172.20.1.2', 'another address', tcp, 'foreign'],
  ];
  for (const [set, entry, what, virtualServer, answer] of ledgers) {
    it(`takes a ${virtualServer.protocol} virtual server for ${answer === 'yes' ? 'ours' : 'foreign'} when ${set} has ${what}`, () => {
      const observed = observedState({ sets: setsWith('IPv4', { [set]: [entry] }) });
      expect(ownership(observed, INPUTS).mayDelete(virtualServer)).to.equal(answer);
    });
  }

  it('looks into the sets of its own family only', () => {
    const entries = { 'CLUSTER-IP': ['172.20.1.1,tcp:80'], 'IPVS-IPS': ['172.20.1.1'] };
    const { mayDelete, mayUnbind } = ownership(observedState({ sets: setsWith('IPv6', entries) }), INPUTS);
    expect([mayDelete(tcp), mayUnbind(tcp.address)]).to.deep.equal(['foreign', false]);
  });

  it('takes for ours what was wanted since the kernel was as wanted last, whatever the sets say', () => {
    const wanted = { servers: new Set([virtualServerKey(tcp)]), addresses: new Set([tcp.address]) };
    const { mayDelete, mayUnbind } = ownership(observedState(), { ...INPUTS, wanted });
    expect([mayDelete(tcp), mayDelete(server([], { port: port(81) }))]).to.deep.equal(['yes', 'foreign']);
    expect([mayUnbind(tcp.address), mayUnbind(ip('172.20.1.2'))]).to.deep.equal([true, false]);
  });

  it('takes an address for ours when it stands in the set that guards the interface', () => {
    const { mayUnbind } = ownership(observedState({ sets: setsWith('IPv4', { 'IPVS-IPS': ['172.20.1.1'] }) }), INPUTS);
    expect([mayUnbind(ip('172.20.1.1')), mayUnbind(ip('172.20.1.2'))]).to.deep.equal([true, false]);
  });

  it('takes a virtual server for ours together with its address on the dummy interface, though they stand in no set', () => {
    const theirs = server([], { address: ip('203.0.113.7') });
    const observed = observedState({
      ipvs: ipvs(tcp, theirs),
      dummy: { exists: true, addresses: new Set([tcp.address, ip('172.20.1.2')]) },
    });
    const { mayDelete, mayUnbind } = ownership(observed, INPUTS);
    expect([mayDelete(tcp), mayDelete(theirs)]).to.deep.equal(['yes', 'foreign']);
    expect([mayUnbind(tcp.address), mayUnbind(ip('172.20.1.2'))]).to.deep.equal([true, false]);
    const excluding = ownership(observed, { ...INPUTS, excludeCIDRs: [cidr('172.20.1.1/32')] });
    expect([excluding.mayDelete(tcp), excluding.mayUnbind(tcp.address)]).to.deep.equal(['excluded', false]);
  });

  it('takes everything for ours under the behaviour of kube-proxy', () => {
    const { mayDelete, mayUnbind } = ownership(observedState(), { ...INPUTS, behaviour: 'kube-proxy' });
    expect([mayDelete(tcp), mayUnbind(tcp.address)]).to.deep.equal(['yes', true]);
  });

  for (const behaviour of ['documented', 'kube-proxy'] as const) {
    it(`never deletes a virtual server inside an excluded range, but unbinds its address, under behaviour ${behaviour}`, () => {
      const sets = setsWith('IPv4', {
        'CLUSTER-IP': ['172.20.1.1,tcp:80', '172.21.1.1,tcp:80'],
        'IPVS-IPS': ['172.20.1.1'],
      });
      const excludeCIDRs = ['fd00::/8', '172.20.0.0/16'].map(cidr);
      const { mayDelete, mayUnbind } = ownership(observedState({ sets }), { ...INPUTS, behaviour, excludeCIDRs });
      expect(mayDelete(tcp)).to.equal('excluded');
      expect(mayDelete(server([], { address: ip('172.21.1.1') }))).to.equal('yes');
      expect(mayUnbind(ip('172.20.1.1'))).to.equal(true);
    });
  }

  it('says that a foreign virtual server is excluded when it is both', () => {
    const excludeCIDRs = [cidr('172.20.0.0/16')];
    expect(ownership(observedState(), { ...INPUTS, excludeCIDRs }).mayDelete(tcp)).to.equal('excluded');
  });
});
