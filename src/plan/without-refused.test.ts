import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { ipvs, observedState, real, server, setsWith } from '../../test/builders/kernel-states.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { setName } from '../kernel/ipset/definitions.ts';
import type { IpSet, SetEntry } from '../kernel/ipset/state.ts';
import { emptyTables } from '../kernel/iptables/diff.ts';
import { type RealServerKey, realServerKey, type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { Refused } from './refused.ts';
import { withoutRefused } from './without-refused.ts';

describe('plan/without-refused', () => {
  const http = servicePort({
    loadBalancerVIPs: [ip('198.51.100.1')],
    loadBalancerSourceRanges: [cidr('10.0.0.0/8')],
  });
  const { kernel } = desiredFor([[http, [endpoint({ local: true })]]]);
  const entry = (set: string, text: string): Refused => ({ kind: 'set-entry', set, entry: text as SetEntry });
  const key = (text: string) => text as VirtualServerKey;
  const closing = entry('KUBE-LOAD-BALANCER-FW', '198.51.100.1,tcp:80');

  const NOTHING = observedState();
  const standing = observedState({ ...kernel, tables: emptyTables() });
  const without = (refused: readonly Refused[], observed = NOTHING) =>
    withoutRefused(kernel, refused, observed).desired;

  it('wants an entry that was refused no more, and all else', () => {
    const refused = entry('KUBE-LOOP-BACK', '10.180.1.1,tcp:8080,10.180.1.1');
    const left = without([refused]);
    expect(kernel.sets.get('KUBE-LOOP-BACK')?.entries.size).to.equal(1);
    expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80', 'TCP 198.51.100.1:80']);
    expect([...left.dummy.addresses]).to.deep.equal(['172.20.1.1', '198.51.100.1']);
    expect(left.sets.get('KUBE-LOOP-BACK')?.entries.size).to.equal(0);
  });

  it('binds no address without the entry that guards it', () => {
    const left = without([entry('KUBE-IPVS-IPS', '198.51.100.1')]);
    expect([...left.dummy.addresses]).to.deep.equal(['172.20.1.1']);
  });

  it('lets no virtual server come without the entry that keeps clients out', () => {
    const left = without([closing]);
    expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80']);
    expect([...left.dummy.addresses]).to.deep.equal(['172.20.1.1']);
  });

  it('leaves a virtual server that stands where that entry is new and refused', () => {
    const left = without([closing], { ...NOTHING, ipvs: kernel.ipvs });
    expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80', 'TCP 198.51.100.1:80']);
  });

  it('takes nothing away that stands because it was refused once', () => {
    const { ipvs, dummy, sets } = without(
      [
        { kind: 'virtual-server', server: key('TCP 172.20.1.1:80') },
        { kind: 'real-server', server: key('TCP 198.51.100.1:80'), real: '10.180.1.1:8080' as RealServerKey },
        { kind: 'address', address: ip('172.20.1.1') },
        entry('KUBE-IPVS-IPS', '198.51.100.1'),
      ],
      standing,
    );
    expect({ ipvs, dummy, sets }).to.deep.equal({ ipvs: kernel.ipvs, dummy: kernel.dummy, sets: kernel.sets });
  });

  describe('a new frontend comes without an entry of', () => {
    const policies = { externalPolicyLocal: true, internalPolicyLocal: true, nodePort: port(30080) } as const;
    const elsewhere = servicePort({
      ...policies,
      externalIPs: [ip('203.0.113.1')],
      loadBalancerVIPs: [ip('198.51.100.1')],
      loadBalancerSourceRanges: [cidr('10.0.0.0/8'), cidr('192.168.0.0/16')],
    });
    const far = desiredFor([[elsewhere, [endpoint()]]]).kernel;
    const udp = desiredFor([[servicePort({ ...policies, protocol: 'UDP' }), [endpoint({ local: true })]]]).kernel;
    const decisions = [
      { id: 'LOAD-BALANCER-FW', text: '198.51.100.1,tcp:80', lacks: ['TCP 198.51.100.1:80'] },
      { id: 'EXTERNAL-NO-LOCAL', text: '198.51.100.1,tcp:80', lacks: ['TCP 198.51.100.1:80'] },
      { id: 'EXTERNAL-NO-LOCAL', text: '203.0.113.1,tcp:80', lacks: ['TCP 203.0.113.1:80'] },
      { id: 'EXTERNAL-NO-LOCAL', text: '192.168.0.10,tcp:30080', lacks: ['TCP 192.168.0.10:30080'] },
      { id: 'CLUSTER-IP-NO-LOCAL', text: '172.20.1.1,tcp:80', lacks: ['TCP 172.20.1.1:80'] },
      { id: 'LOAD-BALANCER-LOCAL', text: '198.51.100.1,tcp:80', lacks: ['TCP 198.51.100.1:80'] },
      { id: 'NODE-PORT-LOCAL-TCP', text: '30080', lacks: ['TCP 192.168.0.10:30080'] },
      { id: 'NODE-PORT-LOCAL-UDP', text: '30080', lacks: ['UDP 192.168.0.10:30080'], of: udp },
      { id: 'LOAD-BALANCER-SOURCE-CIDR', text: '198.51.100.1,tcp:80,10.0.0.0/8', lacks: [] },
      { id: 'LOAD-BALANCER-SOURCE-IP', text: '198.51.100.1,tcp:80,198.51.100.1', lacks: [] },
      { id: 'CLUSTER-IP', text: '172.20.1.1,tcp:80', lacks: [] },
      { id: 'EXTERNAL-IP-LOCAL', text: '203.0.113.1,tcp:80', lacks: [] },
      { id: 'LOAD-BALANCER', text: '198.51.100.1,tcp:80', lacks: [] },
      { id: 'NODE-PORT-IP', text: '192.168.0.10', lacks: [] },
      { id: 'LOOP-BACK', text: '10.180.1.1,udp:8080,10.180.1.1', lacks: [], of: udp },
    ] as const;
    for (const { id, text, lacks, ...given } of decisions) {
      it(`${id}, ${text}: ${lacks.length > 0 ? 'no' : 'yes'}`, () => {
        const wanted = 'of' in given ? given.of : far;
        expect(wanted.sets.get(setName(id, 'IPv4'))?.entries.has(text as SetEntry)).to.equal(true);
        const { desired } = withoutRefused(wanted, [entry(setName(id, 'IPv4'), text)], NOTHING);
        expect([...wanted.ipvs.keys()].filter((server) => !desired.ipvs.has(server))).to.deep.equal(lacks);
        const lost = [...wanted.dummy.addresses].filter((address) => !desired.dummy.addresses.has(address));
        expect(lost.every((address) => lacks.some((server) => server.includes(` ${address}:`)))).to.equal(true);
      });
    }

    it('any set that tells whose it is: no', () => {
      const refused = [entry('KUBE-CLUSTER-IP', '172.20.1.1,tcp:80'), entry('KUBE-IPVS-IPS', '172.20.1.1')];
      expect([...without(refused).ipvs.keys()]).to.deep.equal(['TCP 198.51.100.1:80']);
    });

    it('what keeps outside clients from endpoints elsewhere: one that stands gets none of them, and loses what is gone', () => {
      const present = server([real('10.180.1.9')], { address: ip('203.0.113.1') });
      const { desired } = withoutRefused(far, [entry('KUBE-EXTERNAL-NO-LOCAL', '203.0.113.1,tcp:80')], {
        ...NOTHING,
        ipvs: ipvs(present),
      });
      expect(desired.ipvs.get(virtualServerKey(present))?.realServers.length).to.equal(0);
      expect(far.ipvs.get(virtualServerKey(present))?.realServers.length).to.equal(1);
    });

    it('its new set, where it stands: it keeps the old entry, without which it would be refused', () => {
      const text = '203.0.113.1,tcp:80';
      const before = { ...NOTHING, ipvs: far.ipvs, sets: setsWith('IPv4', { 'EXTERNAL-IP': [text] }) };
      const { desired } = withoutRefused(far, [entry('KUBE-EXTERNAL-IP-LOCAL', text)], before);
      expect([...(desired.sets.get('KUBE-EXTERNAL-IP')?.entries ?? [])]).to.deep.equal([text]);
    });
  });

  describe('leaves as it is', () => {
    const cluster = key('TCP 172.20.1.1:80');

    it('a virtual server that was not to be changed, with its new endpoints', () => {
      const old = observedState({ ipvs: ipvs(server([], { scheduler: 'wlc', persistenceSeconds: 9 })) });
      const changed = without([{ kind: 'virtual-server', server: cluster, change: 'edit' }], old).ipvs.get(cluster);
      expect(changed).to.deep.include({ scheduler: 'wlc', persistenceSeconds: 9 });
      expect(changed?.realServers.length).to.equal(1);
    });

    for (const change of ['edit', 'deletion'] as const) {
      it(`a real server that refused its ${change}`, () => {
        const old = real('10.180.1.9');
        const realKey = realServerKey(old);
        const refused: Refused = { kind: 'real-server', server: cluster, real: realKey, change };
        const reals = without([refused], observedState({ ipvs: ipvs(server([old])) })).ipvs.get(cluster)?.realServers;
        expect(reals).to.include(old);
        expect(reals?.length).to.equal(2);
      });
    }

    it('a virtual server of nobody that did not go, or a real server of it', () => {
      const gone = server([], { address: ip('172.20.9.9') });
      const observed = observedState({ ipvs: ipvs(gone) });
      const of = (refused: Refused) => [...withoutRefused(kernel, [refused], observed).stays];
      const real = '10.180.1.9:8080' as RealServerKey;
      expect(of({ kind: 'virtual-server', server: virtualServerKey(gone), change: 'deletion' })).to.have.lengthOf(1);
      expect(of({ kind: 'real-server', server: virtualServerKey(gone), real, change: 'edit' })).to.have.lengthOf(1);
      expect(of({ kind: 'virtual-server', server: cluster, change: 'deletion' })).to.deep.equal([]);
    });

    it('an address that did not go, with the entry that guards it', () => {
      const observed = observedState({
        dummy: { exists: true, addresses: new Set([ip('172.20.9.9')]) },
        sets: setsWith('IPv4', { 'IPVS-IPS': ['172.20.9.9'] }),
      });
      const { dummy, sets } = without([{ kind: 'address', address: ip('172.20.9.9'), change: 'deletion' }], observed);
      expect(dummy.addresses.has(ip('172.20.9.9'))).to.equal(true);
      expect(sets.get('KUBE-IPVS-IPS')?.entries.has('172.20.9.9' as SetEntry)).to.equal(true);
    });

    it('an entry that did not go; if it closes, what it leaves open stays open', () => {
      const observed = observedState({
        sets: setsWith('IPv4', {
          'LOAD-BALANCER-FW': ['198.51.100.9,tcp:80'],
          'LOAD-BALANCER-SOURCE-CIDR': ['198.51.100.9,tcp:80,10.0.0.0/8', '198.51.100.8,tcp:80,10.0.0.0/8'],
        }),
      });
      const { sets } = without(
        [{ ...entry('KUBE-LOAD-BALANCER-FW', '198.51.100.9,tcp:80'), change: 'deletion' }],
        observed,
      );
      expect([...(sets.get('KUBE-LOAD-BALANCER-FW')?.entries ?? [])]).to.include('198.51.100.9,tcp:80');
      const ranges = [...(sets.get('KUBE-LOAD-BALANCER-SOURCE-CIDR')?.entries ?? [])];
      expect(ranges).to.include('198.51.100.9,tcp:80,10.0.0.0/8').and.not.include('198.51.100.8,tcp:80,10.0.0.0/8');
    });

    it('a set that did not go', () => {
      const old = setsWith('IPv4').get('KUBE-NODE-PORT-IP') as IpSet;
      const observed = observedState({ sets: new Map([['KUBE-OLD', { ...old, name: 'KUBE-OLD' }]]) });
      expect(without([{ kind: 'set', set: 'KUBE-OLD', change: 'deletion' }], observed).sets.has('KUBE-OLD')).to.equal(
        true,
      );
    });
  });
});
