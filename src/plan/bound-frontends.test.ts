import { expect } from 'chai';
import { real, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import type { IpSet, SetEntry } from '../kernel/ipset/state.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import { comesEmpty, leadsNowhere, shutting } from './bound-frontends.ts';

const POD = real('10.180.1.1');
const NO_RULES = { filter: new Map() };

function step(name: string, entry: string, kind: 'delete-entry' | 'add-entry' = 'delete-entry'): IpsetStep {
  return { kind, set: { name } as IpSet, entry: entry as SetEntry };
}

describe('plan/bound-frontends', () => {
  const cart = server([POD], { address: ip('172.20.1.1') });
  const added: IpvsStep = { kind: 'add-virtual-server', server: cart };
  const deleted: IpvsStep = { kind: 'delete-virtual-server', server: cart };
  const sets = (entries: Readonly<Record<string, readonly string[]>>) => setsWith('IPv4', entries);
  const wanted = { family: 'IPv4', sets: sets({ 'CLUSTER-IP': ['172.20.1.1,tcp:80'] }) } as const;
  const bound = new Set([cart.address]);

  it('has a virtual server come empty where its address stands and nobody is let in yet', () => {
    expect(comesEmpty(wanted, sets({}), bound)(added)).to.equal(true);
    expect(comesEmpty(wanted, sets({}), new Set())(added), 'with its address').to.equal(false);
    expect(comesEmpty(wanted, wanted.sets, bound)(added), 'let in already').to.equal(false);
    expect(comesEmpty({ ...wanted, sets: sets({}) }, sets({}), bound)(added), 'of no set').to.equal(false);
    expect(comesEmpty(wanted, sets({}), bound)({ kind: 'add-real-server', server: cart, real: POD })).to.equal(false);
  });

  it('empties a virtual server and shuts it before it goes where its address stays', () => {
    const { empties, shuts } = shutting(wanted, [deleted], bound, NO_RULES);
    expect(empties).to.deep.equal([{ kind: 'delete-real-server', server: cart, real: POD }]);
    expect(shuts(step('KUBE-CLUSTER-IP', '172.20.1.1,tcp:80'))).to.equal(true);
    expect(shuts(step('KUBE-CLUSTER-IP', '172.20.1.1,tcp:81'))).to.equal(false);
    expect(shuts(step('KUBE-CLUSTER-IP', '172.20.1.1,tcp:80', 'add-entry'))).to.equal(false);
    expect(shuts(step('KUBE-IPVS-IPS', '172.20.1.1'))).to.equal(false);
    expect(shuts(step('KUBE-LOAD-BALANCER-FW', '172.20.1.1,tcp:80'))).to.equal(false);
    const many = Array.from({ length: 1001 }, () => ({ ...cart, realServers: [POD, POD] }));
    const gone = many.map((each): IpvsStep => ({ kind: 'delete-virtual-server', server: each }));
    expect(shutting(wanted, gone, bound, NO_RULES).empties, 'of very many').to.deep.equal([]);
    const withAddress = shutting(wanted, [deleted], new Set(), NO_RULES);
    expect(withAddress.empties).to.deep.equal([]);
    expect(withAddress.shuts(step('KUBE-CLUSTER-IP', '172.20.1.1,tcp:80'))).to.equal(false);
  });

  it('empties one that is closed to the node before its address goes, by which the rule knows the node', () => {
    const rule = '-s 172.20.1.1/32 -m ipvs --vproto 6 --vaddr 172.20.1.1 --vport 80 -j DROP';
    const rules = { filter: new Map([['KUBE-IPVS-OUT-FILTER', [rule]]]) };
    const emptied = { kind: 'delete-real-server', server: cart, real: POD };
    expect(shutting(wanted, [deleted], new Set(), rules).closed).to.deep.equal([emptied]);
    expect(shutting(wanted, [deleted], new Set(), NO_RULES).closed, 'open').to.deep.equal([]);
    expect(shutting(wanted, [deleted], bound, rules).closed, 'whose address stays').to.deep.equal([]);
  });

  it('takes the entry of a frontend without a virtual server for one that leads nowhere', () => {
    const isOfNobody = leadsNowhere(wanted, new Map([[virtualServerKey(cart), cart]]));
    expect(isOfNobody(step('KUBE-CLUSTER-IP', '172.20.1.1,tcp:81'))).to.equal(true);
    expect(isOfNobody(step('KUBE-CLUSTER-IP', '172.20.1.1,tcp:80')), 'that stands').to.equal(false);
    expect(isOfNobody(step('KUBE-CLUSTER-IP', '172.20.1.1,tcp:81', 'add-entry'))).to.equal(false);
    expect(isOfNobody(step('KUBE-LOOP-BACK', '172.20.1.1,tcp:81,172.20.1.1'))).to.equal(false);
  });
});
