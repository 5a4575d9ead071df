import { expect } from 'chai';
import { FAMILIES } from '../../net/family.ts';
import { KUBE_PROXY_SETS, ownSets, SET_DEFINITIONS, setComment, setName } from './definitions.ts';
import { emptySets } from './state.ts';

describe('kernel/ipset/definitions', () => {
  const names: readonly (readonly [string, string, string])[] = [
    ['KUBE-LOOP-BACK', 'KUBE-6-LOOP-BACK', 'hash:ip,port,ip'],
    ['KUBE-CLUSTER-IP', 'KUBE-6-CLUSTER-IP', 'hash:ip,port'],
    ['KUBE-EXTERNAL-IP', 'KUBE-6-EXTERNAL-IP', 'hash:ip,port'],
    ['KUBE-EXTERNAL-IP-LOCAL', 'KUBE-6-EXTERNAL-IP-LOCAL', 'hash:ip,port'],
    ['KUBE-LOAD-BALANCER', 'KUBE-6-LOAD-BALANCER', 'hash:ip,port'],
    ['KUBE-LOAD-BALANCER-FW', 'KUBE-6-LOAD-BALANCER-FW', 'hash:ip,port'],
    ['KUBE-LOAD-BALANCER-LOCAL', 'KUBE-6-LOAD-BALANCER-LOCAL', 'hash:ip,port'],
    ['KUBE-LOAD-BALANCER-SOURCE-IP', 'KUBE-6-LOAD-BALANCER-SOURCE-IP', 'hash:ip,port,ip'],
    ['KUBE-LOAD-BALANCER-SOURCE-CIDR', 'KUBE-6-LOAD-BALANCER-SOURCE-CID', 'hash:ip,port,net'],
    ['KUBE-NODE-PORT-TCP', 'KUBE-6-NODE-PORT-TCP', 'bitmap:port'],
    ['KUBE-NODE-PORT-LOCAL-TCP', 'KUBE-6-NODE-PORT-LOCAL-TCP', 'bitmap:port'],
    ['KUBE-NODE-PORT-UDP', 'KUBE-6-NODE-PORT-UDP', 'bitmap:port'],
    ['KUBE-NODE-PORT-LOCAL-UDP', 'KUBE-6-NODE-PORT-LOCAL-UDP', 'bitmap:port'],
    ['KUBE-NODE-PORT-SCTP-HASH', 'KUBE-6-NODE-PORT-SCTP-HASH', 'hash:ip,port'],
    ['KUBE-NODE-PORT-LOCAL-SCTP-HASH', 'KUBE-6-NODE-PORT-LOCAL-SCTP-HAS', 'hash:ip,port'],
    ['KUBE-HEALTH-CHECK-NODE-PORT', 'KUBE-6-HEALTH-CHECK-NODE-PORT', 'bitmap:port'],
    ['KUBE-IPVS-IPS', 'KUBE-6-IPVS-IPS', 'hash:ip'],
  ];

  it("has kube-proxy's sets with their types, by both of their names", () => {
    const known = KUBE_PROXY_SETS.map(({ id, type }) => [setName(id, 'IPv4'), setName(id, 'IPv6'), type]);
    expect(known).to.deep.equal(names);
  });

  it('has three sets more of our own', () => {
    const own = SET_DEFINITIONS.slice(KUBE_PROXY_SETS.length);
    expect(own.map(({ id, type }) => [setName(id, 'IPv4'), setName(id, 'IPv6'), type])).to.deep.equal([
      ['KUBE-CLUSTER-IP-NO-LOCAL', 'KUBE-6-CLUSTER-IP-NO-LOCAL', 'hash:ip,port'],
      ['KUBE-EXTERNAL-NO-LOCAL', 'KUBE-6-EXTERNAL-NO-LOCAL', 'hash:ip,port'],
      ['KUBE-NODE-PORT-IP', 'KUBE-6-NODE-PORT-IP', 'hash:ip'],
    ]);
  });

  it('knows every name that is ours in a family, and those under which sets are exchanged', () => {
    for (const family of FAMILIES) {
      const { names: sets, standIns } = ownSets(family);
      expect(sets).to.deep.equal(SET_DEFINITIONS.map(({ id }) => setName(id, family)));
      expect(sets).to.not.include.members([...standIns]);
    }
    expect(FAMILIES.flatMap((family) => ownSets(family).standIns)).to.deep.equal([
      ...['KUBE-EXCHANGE', 'KUBE-EXCHANGE-2'],
      ...['KUBE-6-EXCHANGE', 'KUBE-6-EXCHANGE-2'],
    ]);
  });

  it('cuts names to what the kernel takes, and keeps them different', () => {
    const all = FAMILIES.flatMap((family) => SET_DEFINITIONS.map(({ id }) => setName(id, family)));
    expect(new Set(all).size).to.equal(40);
    expect(Math.max(...all.map(({ length }) => length))).to.equal(31);
  });

  it('comments a rule with what its set is for', () => {
    expect(setComment('LOOP-BACK')).to.equal('Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose');
    expect(setComment('NODE-PORT-SCTP-HASH')).to.equal(
      "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
    );
    expect(new Set(SET_DEFINITIONS.map(({ comment }) => comment)).size).to.equal(20);
  });

  it('gives hashes a family and a limit, bitmaps neither', () => {
    const sets = [...emptySets('IPv6').values()];
    const of = (type: string) =>
      sets.filter((set) => set.type === type).map(({ family, maxEntries }) => [family, maxEntries]);
    expect(sets).to.have.lengthOf(20);
    expect(of('hash:ip')).to.deep.equal(Array(2).fill(['IPv6', 65536]));
    expect(of('bitmap:port')).to.deep.equal(Array(5).fill([undefined, undefined]));
  });
});
