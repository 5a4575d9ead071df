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
import { type Standing, withoutRefused } from './without-refused.ts';

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

  it('lets nobody past the filter to a virtual server that does not come', () => {
    const left = without([{ kind: 'virtual-server', server: key('TCP 172.20.1.1:80') }]);
    const lettingIn = (name: string) => [...(left.sets.get(name)?.entries ?? [])];
    expect(lettingIn('KUBE-CLUSTER-IP')).to.deep.equal([]);
    expect(lettingIn('KUBE-LOAD-BALANCER')).to.deep.equal(['198.51.100.1,tcp:80']);
    expect([...left.dummy.addresses]).to.deep.equal(['198.51.100.1']);
  });

  describe('an entry does not go that lets clients past the filter', () => {
    const old = server([real()], { address: ip('172.20.1.1'), port: port(81) });
    const stuckEntry = { ...entry('KUBE-CLUSTER-IP', '172.20.1.1,tcp:81'), change: 'deletion' as const };
    const sets = setsWith('IPv4', { 'CLUSTER-IP': ['172.20.1.1,tcp:81'] });
    const dummy = { exists: true, addresses: new Set([ip('172.20.1.1')]) };

    it('and its virtual server stays as long as the address does, without real servers', () => {
      const { desired, stuck } = withoutRefused(kernel, [stuckEntry], { sets, ipvs: ipvs(old), dummy });
      expect([...stuck]).to.deep.equal(['TCP 172.20.1.1:81']);
      expect(desired.ipvs.get(key('TCP 172.20.1.1:81'))).to.deep.equal({ ...old, realServers: [] });
      const unbound = withoutRefused(kernel, [stuckEntry], { sets, ipvs: ipvs(old), dummy: NOTHING.dummy });
      expect(unbound.stuck.size).to.equal(0);
    });

    it('and no address comes without that virtual server', () => {
      const { desired } = withoutRefused(kernel, [stuckEntry], { sets, ipvs: ipvs(), dummy: NOTHING.dummy });
      expect([...desired.dummy.addresses]).to.deep.equal(['198.51.100.1']);
    });
  });

  it('gives no real servers to what is closed to the node itself while its address does not come', () => {
    const { ipvs: left } = without([{ kind: 'address', address: ip('198.51.100.1') }]);
    expect([...left.values()].map(({ address, realServers }) => [address, realServers.length])).to.deep.equal([
      ['172.20.1.1', 1],
      ['198.51.100.1', 0],
    ]);
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
    const near = desiredFor([[elsewhere, [endpoint({ local: true })]]]).kernel;
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
      { id: 'CLUSTER-IP', text: '172.20.1.1,tcp:80', lacks: [], empty: ['TCP 172.20.1.1:80'], of: near },
      { id: 'EXTERNAL-IP-LOCAL', text: '203.0.113.1,tcp:80', lacks: [], empty: ['TCP 203.0.113.1:80'] },
      { id: 'LOAD-BALANCER', text: '198.51.100.1,tcp:80', lacks: [], empty: ['TCP 198.51.100.1:80'] },
      { id: 'NODE-PORT-IP', text: '192.168.0.10', lacks: [] },
      { id: 'LOOP-BACK', text: '10.180.1.1,udp:8080,10.180.1.1', lacks: [], of: udp },
    ] as const;
    for (const { id, text, lacks, ...given } of decisions) {
      const empty: readonly string[] = 'empty' in given ? given.empty : [];
      const answer = empty.length > 0 ? 'without endpoints' : lacks.length > 0 ? 'no' : 'yes';
      it(`${id}, ${text}: ${answer}`, () => {
        const wanted = 'of' in given ? given.of : far;
        expect(wanted.sets.get(setName(id, 'IPv4'))?.entries.has(text as SetEntry)).to.equal(true);
        const { desired } = withoutRefused(wanted, [entry(setName(id, 'IPv4'), text)], NOTHING);
        expect([...wanted.ipvs.keys()].filter((server) => !desired.ipvs.has(server))).to.deep.equal(lacks);
        const emptied = [...desired.ipvs].filter(
          ([server, { realServers }]) => realServers.length < (wanted.ipvs.get(server)?.realServers.length ?? 0),
        );
        expect(emptied.map(([server]) => server)).to.deep.equal(empty);
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

    const old = real('10.180.1.9', { connections: 3 });
    const quiet = real('10.180.1.9', { weight: 0 });
    const ofReal = (change: 'edit' | 'deletion', server = cluster): Refused => ({
      kind: 'real-server',
      server,
      real: realServerKey(old),
      change,
    });
    const stuckReals: readonly (readonly [what: string, refused: readonly Refused[], becomes: unknown])[] = [
      ['a real server that was not to be changed', [ofReal('edit')], old],
      ['a real server that did not go, but without new clients', [ofReal('deletion')], quiet],
      ['a real server that neither goes nor changes', [ofReal('edit'), ofReal('deletion')], old],
    ];
    for (const [what, refused, becomes] of stuckReals) {
      it(what, () => {
        const reals = without(refused, observedState({ ipvs: ipvs(server([old])) })).ipvs.get(cluster)?.realServers;
        expect(reals).to.deep.include(becomes);
        expect(reals).to.have.lengthOf(2);
      });
    }

    it('nothing of a real server that did not go once, as soon as it is wanted again', () => {
      const [wanted] = kernel.ipvs.get(cluster)?.realServers ?? [];
      if (!wanted) throw new Error('no real server is wanted');
      const refused = {
        kind: 'real-server',
        server: cluster,
        real: realServerKey(wanted),
        change: 'deletion',
      } as const;
      const before = observedState({ ipvs: ipvs(server([{ ...wanted, weight: 0 }])) });
      expect(without([refused], before).ipvs.get(cluster)?.realServers).to.deep.equal([wanted]);
    });

    describe('of a virtual server of nobody that does not go', () => {
      const gone = server([old], { address: ip('172.20.9.9') });
      const key = virtualServerKey(gone);
      const closed = setsWith('IPv4', {
        'LOAD-BALANCER-FW': ['172.20.9.9,tcp:80', '172.20.9.8,tcp:80'],
        'LOAD-BALANCER-SOURCE-CIDR': ['172.20.9.9,tcp:80,10.0.0.0/8', '172.20.9.8,tcp:80,10.0.0.0/8'],
        'EXTERNAL-NO-LOCAL': ['172.20.9.9,tcp:80'],
        'LOAD-BALANCER-LOCAL': ['172.20.9.9,tcp:80'],
      });
      const observed = observedState({ ipvs: ipvs(gone), sets: closed });
      const itself: Refused = { kind: 'virtual-server', server: key, change: 'deletion' };
      const left = (refused: readonly Refused[]) => {
        const { desired, stuck } = withoutRefused(kernel, refused, observed);
        expect([...stuck]).to.deep.equal([key]);
        return desired;
      };

      it('nothing but itself: it loses its real servers', () => {
        const { ipvs: servers } = left([itself]);
        expect(servers.get(key)).to.deep.equal({ ...gone, realServers: [] });
      });

      it('those of its real servers that do not go either, without new clients', () => {
        const { ipvs: servers, sets } = left([itself, ofReal('deletion', key)]);
        expect(servers.get(key)?.realServers).to.deep.equal([quiet]);
        expect(sets.get('KUBE-LOAD-BALANCER-FW')?.entries.has('172.20.9.9,tcp:80' as SetEntry)).to.equal(false);
      });

      it('all that closes it, where clients cannot be kept from them otherwise', () => {
        const { ipvs: servers, sets } = left([itself, ofReal('deletion', key), ofReal('edit', key)]);
        expect(servers.get(key)?.realServers).to.deep.equal([old]);
        const kept = ['LOAD-BALANCER-FW', 'LOAD-BALANCER-SOURCE-CIDR', 'EXTERNAL-NO-LOCAL', 'LOAD-BALANCER-LOCAL'];
        expect(
          kept.map((id) => [...(sets.get(`KUBE-${id}`)?.entries ?? [])].filter((each) => each.startsWith('172.'))),
        ).to.deep.equal([['172.20.9.9,tcp:80'], ['172.20.9.9,tcp:80,10.0.0.0/8'], ['172.20.9.9,tcp:80'], []]);
      });

      it('nothing, where it is wanted again', () => {
        const refused: Refused = { kind: 'virtual-server', server: cluster, change: 'deletion' };
        const { desired, stuck } = withoutRefused(kernel, [refused], observedState({ ipvs: ipvs(server([old])) }));
        expect([[...stuck], desired.ipvs]).to.deep.equal([[], kernel.ipvs]);
      });
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

    it('a set that cannot be exchanged: it takes what fits in', () => {
      const { fixedSets, desired } = withoutRefused(
        kernel,
        [{ kind: 'set', set: 'KUBE-CLUSTER-IP', change: 'edit' }],
        standing,
      );
      expect([[...fixedSets], desired.sets.get('KUBE-CLUSTER-IP')]).to.deep.equal([
        ['KUBE-CLUSTER-IP'],
        kernel.sets.get('KUBE-CLUSTER-IP'),
      ]);
    });

    it('a set whose stand-in does not take what is in it', () => {
      const [text = ''] = kernel.sets.get('KUBE-CLUSTER-IP')?.entries ?? [];
      const { fixedSets, desired } = withoutRefused(kernel, [entry('KUBE-CLUSTER-IP', text)], standing);
      expect([[...fixedSets], desired.sets]).to.deep.equal([['KUBE-CLUSTER-IP'], kernel.sets]);
    });

    it('every set, while those that would stand in for them do not go', () => {
      const old = setsWith('IPv4').get('KUBE-NODE-PORT-IP') as IpSet;
      const names = ['KUBE-EXCHANGE', 'KUBE-EXCHANGE-2'];
      const left = names.map((name) => [name, { ...old, name }] as const);
      const observed: Standing = { ...standing, sets: new Map([...standing.sets, ...left]) };
      const [first, second] = names.map((set): Refused => ({ kind: 'set', set, change: 'deletion' }));
      const fixed = (refused: readonly (Refused | undefined)[], state = observed) =>
        withoutRefused(
          kernel,
          refused.filter((each) => each !== undefined),
          state,
        ).fixedSets.size;
      expect([fixed([first]), fixed([first, second]), fixed([first, second], standing)]).to.deep.equal([
        0,
        kernel.sets.size,
        0,
      ]);
    });

    it('a set that did not go', () => {
      const old = setsWith('IPv4').get('KUBE-NODE-PORT-IP') as IpSet;
      const observed = observedState({ sets: new Map([['KUBE-OLD', { ...old, name: 'KUBE-OLD' }]]) });
      expect(without([{ kind: 'set', set: 'KUBE-OLD', change: 'deletion' }], observed).sets.has('KUBE-OLD')).to.equal(
        true,
      );
    });
  });

  describe('without a set that cannot be made', () => {
    const lack = (set: string): Refused => ({ kind: 'set', set });
    const namesIn = ({ tables }: typeof kernel) =>
      [...tables.nat.chains.values(), ...tables.filter.chains.values()]
        .flat()
        .flatMap((rule) => [...rule.matchAll(/--match-set (\S+) /g)].map(([, name]) => name));

    it('wants none of its entries, no rule that names it, and what can do without them', () => {
      expect(namesIn(kernel)).to.include('KUBE-LOAD-BALANCER-SOURCE-CIDR');
      const left = without([lack('KUBE-LOAD-BALANCER-SOURCE-CIDR')]);
      expect(left.sets.has('KUBE-LOAD-BALANCER-SOURCE-CIDR')).to.equal(false);
      expect(namesIn(left)).to.not.include('KUBE-LOAD-BALANCER-SOURCE-CIDR');
      expect([...left.ipvs.keys()]).to.deep.equal([...kernel.ipvs.keys()]);
    });

    it('lets no frontend come that it would close', () => {
      const left = without([lack('KUBE-LOAD-BALANCER-FW')]);
      expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80']);
      expect([...left.dummy.addresses]).to.deep.equal(['172.20.1.1']);
    });

    it('leaves what stands under its name and is another one', () => {
      const odd: IpSet = { ...(kernel.sets.get('KUBE-LOAD-BALANCER-FW') as IpSet), type: 'hash:net,port' };
      const left = without([lack(odd.name)], { ...NOTHING, sets: new Map([[odd.name, odd]]) });
      expect(left.sets.get(odd.name)).to.equal(odd);
      expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80']);
    });

    it('wants all of it where it has come meanwhile', () => {
      const left = without([lack('KUBE-LOAD-BALANCER-FW')], { ...NOTHING, sets: setsWith('IPv4') });
      expect([left.sets, left.tables, left.ipvs]).to.deep.equal([kernel.sets, kernel.tables, kernel.ipvs]);
    });
  });
});
