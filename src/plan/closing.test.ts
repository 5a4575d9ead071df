import { expect } from 'chai';
import { observedState, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import { addressEntry, type SetEntry } from '../kernel/ipset/state.ts';
import type { KernelState } from '../kernel/state.ts';
import { AT_ONCE, type ClosingRules, closingAddresses, type StaysBound, withClosing } from './closing.ts';

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
  const rules = { isOurs: () => true, refusedGuards: new Set<SetEntry>() };

  it('finds the addresses that are cut, or have been and still have time', () => {
    const cut = [server([], { address: cart })];
    const found = (staysBound: StaysBound) => [...closingAddresses(wanting(), observed, cut, { ...rules, staysBound })];
    expect(found(whenCut)).to.deep.equal([cart]);
    expect(found((address) => address === outside)).to.deep.equal([outside]);
    expect(found(AT_ONCE)).to.deep.equal([]);
  });

  it('finds none that is wanted, is not bound, is not ours, or does not get the entry that guards it', () => {
    const found = (desired: KernelState, given: Partial<typeof observed & ClosingRules> = {}) => [
      ...closingAddresses(desired, { ...observed, ...given }, [], { ...rules, staysBound: () => true, ...given }),
    ];
    expect(found(wanting(cart))).to.deep.equal([outside]);
    expect(found(wanting(), { dummy: { exists: true, addresses: new Set([cart]) } })).to.deep.equal([cart]);
    expect(found(wanting(), { isOurs: (address) => address === outside })).to.deep.equal([outside]);
    expect(found(wanting(), { refusedGuards: new Set([addressEntry(outside)]) })).to.deep.equal([cart]);
    expect(found({ ...wanting(), sets: new Map() })).to.deep.equal([]);
  });

  it('finds them also where somebody has emptied the sets', () => {
    const emptied = { ...observed, sets: new Map() };
    const found = closingAddresses(wanting(), emptied, [], { ...rules, staysBound: () => true });
    expect([...found]).to.deep.equal([cart, outside]);
  });

  it('wants them bound and guarded, beside what is wanted', () => {
    const { sets, dummy } = withClosing(wanting(cart), new Set([outside]));
    expect([...dummy.addresses]).to.deep.equal([cart, outside]);
    expect([...(sets.get('KUBE-IPVS-IPS')?.entries ?? [])]).to.deep.equal([cart, outside]);
    const same = wanting(cart);
    expect(withClosing(same, new Set())).to.equal(same);
  });
});
