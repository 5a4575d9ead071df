import { expect } from 'chai';
import { observedState, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import type { KernelState } from '../kernel/state.ts';
import { AT_ONCE, closingAddresses, type StaysBound, withClosing } from './closing.ts';

describe('plan/closing', () => {
  const [cart, outside] = [ip('172.20.1.1'), ip('203.0.113.1')];
  const observed = observedState({
    sets: setsWith('IPv4', { 'IPVS-IPS': [cart, outside] }),
    dummy: { exists: true, addresses: new Set([cart, outside]) },
  });
  const wanting = (...addresses: readonly string[]): KernelState => ({
    family: 'IPv4',
    ipvs: new Map(),
    sets: setsWith('IPv4', { 'IPVS-IPS': addresses }),
    dummy: { exists: true, addresses: new Set(addresses.map(ip)) },
    tables: { nat: NO_TABLE, filter: NO_TABLE },
  });
  const NO_TABLE = { chains: new Map(), jumps: [], obsolete: [] };
  const whenCut: StaysBound = (_, isCut) => isCut;

  it('finds the addresses that are cut, or have been and still have time', () => {
    const cut = [server([], { address: cart })];
    const found = (staysBound: StaysBound) => [...closingAddresses(wanting(), observed, cut, staysBound)];
    expect(found(whenCut)).to.deep.equal([cart]);
    expect(found((address) => address === outside)).to.deep.equal([outside]);
    expect(found(AT_ONCE)).to.deep.equal([]);
  });

  it('finds none that is wanted, is not bound, or stands in no set that tells it to be ours', () => {
    const always = () => true;
    const found = (desired: KernelState, given: Partial<typeof observed>) => [
      ...closingAddresses(desired, { ...observed, ...given }, [], always),
    ];
    expect(found(wanting(cart), {})).to.deep.equal([outside]);
    expect(found(wanting(), { dummy: { exists: true, addresses: new Set([cart]) } })).to.deep.equal([cart]);
    expect(found(wanting(), { sets: setsWith('IPv4', { 'IPVS-IPS': [outside] }) })).to.deep.equal([outside]);
    expect(found(wanting(), { sets: new Map() })).to.deep.equal([]);
  });

  it('wants them bound and guarded, beside what is wanted', () => {
    const { sets, dummy } = withClosing(wanting(cart), new Set([outside]));
    expect([...dummy.addresses]).to.deep.equal([cart, outside]);
    expect([...(sets.get('KUBE-IPVS-IPS')?.entries ?? [])]).to.deep.equal([cart, outside]);
    const same = wanting(cart);
    expect(withClosing(same, new Set())).to.equal(same);
  });
});
