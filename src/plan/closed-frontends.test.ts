import { expect } from 'chai';
import { ipvs, real, server } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import { emptyTables } from '../kernel/iptables/diff.ts';
import type { WantedTables } from '../kernel/iptables/state.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { closedToNode, waitsForAddress, withoutUnboundReals } from './closed-frontends.ts';

const RULE = '-s 198.51.100.1/32 -m ipvs --vproto 6 --vaddr 198.51.100.1 --vport 80 -j DROP';
const CHAINS = new Map([['KUBE-IPVS-OUT-FILTER', [RULE]]]);

describe('plan/closed-frontends', () => {
  const address = ip('198.51.100.1');
  const [closed, open] = [server([real()], { address }), server([real()], { address, protocol: 'UDP' })];
  const bound = (...addresses: readonly IpAddress[]) => ({ exists: true, addresses: new Set(addresses) });
  const tables: WantedTables = {
    nat: { chains: new Map(), jumps: [], obsolete: [] },
    filter: { chains: CHAINS, jumps: [], obsolete: [] },
  };
  const wanted = { tables, dummy: bound(address) };

  it('tells them by what the rules name', () => {
    const isClosed = closedToNode(CHAINS);
    expect([isClosed(closed), isClosed(open)]).to.deep.equal([true, false]);
    expect(closedToNode(emptyTables().filter)(closed)).to.equal(false);
  });

  it('has real servers of one that stands wait for its address', () => {
    const step: IpvsStep = { kind: 'add-real-server', server: closed, real: real() };
    const [both, standing] = [ipvs(closed, open), ipvs(closed)];
    expect(waitsForAddress(wanted, { ipvs: both, dummy: bound() })(step)).to.equal(true);
    expect(waitsForAddress(wanted, { ipvs: both, dummy: bound() })({ ...step, server: open }), 'open').to.equal(false);
    expect(waitsForAddress(wanted, { ipvs: standing, dummy: bound(address) })(step), 'bound').to.equal(false);
    expect(waitsForAddress(wanted, { ipvs: ipvs(), dummy: bound() })(step), 'new').to.equal(false);
    const edit: IpvsStep = { kind: 'edit-virtual-server', server: closed };
    expect(waitsForAddress(wanted, { ipvs: standing, dummy: bound() })(edit)).to.equal(false);
    const ofNode = { tables, dummy: bound() };
    expect(waitsForAddress(ofNode, { ipvs: standing, dummy: bound() })(step), 'of the node').to.equal(false);
  });

  it('leaves it without real servers where its address does not come', () => {
    const realsOf = (addresses: readonly IpAddress[], dummy = bound(address)) => {
      const left = withoutUnboundReals(ipvs(closed, open), { tables, dummy }, new Set(addresses), () => []);
      return [closed, open].map((each) => left.get(virtualServerKey(each))?.realServers.length);
    };
    expect(realsOf([])).to.deep.equal([0, 1]);
    expect(realsOf([address])).to.deep.equal([1, 1]);
    expect(realsOf([], bound()), 'of the node').to.deep.equal([1, 1]);
    const all = ipvs(closed, open);
    const same = withoutUnboundReals(all, { tables, dummy: bound(address) }, new Set([address]), () => []);
    expect(same, 'no copy').to.equal(all);
  });
});
