import { expect } from 'chai';
import fc from 'fast-check';
import { anyAddress, ip } from '../../../test/builders/net.ts';
import { MemoryAddresses } from '../../../test/kernel/memory-addresses.ts';
import { isLinkLocal, isLoopback } from '../../net/ip-address.ts';
import { applyDummySteps, diffDummy } from './diff.ts';
import { dummyOf, parseAddressShow } from './parse.ts';
import { renderDummyState, renderDummySteps } from './render.ts';
import type { DummyState } from './state.ts';

const always = () => true;

describe('kernel/dummy/diff', () => {
  it('leads from any addresses to any other, in memory and in the kernel, and then has nothing to do', () =>
    fc.assert(
      fc.property(fc.array(anyDummy(), { minLength: 2, maxLength: 5 }), (states) => {
        const kernel = new MemoryAddresses({ eth0: ['192.168.0.10/24'] });
        for (const wanted of states) {
          const known = read(kernel);
          const { additions, removals, foreign } = diffDummy(known, wanted, always);
          expect(foreign).to.deep.equal([]);
          expect(kernel.batch(renderDummySteps([...additions, ...removals]))).to.deep.equal({
            stderr: '',
            exitCode: 0,
          });
          expect(plain(read(kernel))).to.deep.equal(plain(wanted));
          expect(plain(applyDummySteps(known, [...additions, ...removals]))).to.deep.equal(plain(wanted));
          expect(diffDummy(read(kernel), wanted, always)).to.deep.equal({ additions: [], removals: [], foreign: [] });
          expect(kernel.addresses('eth0')).to.deep.equal(['192.168.0.10']);
        }
      }),
    ));

  it('reads back whatever was written to a node without the interface', () =>
    fc.assert(
      fc.property(anyDummy(), (wanted) => {
        const kernel = new MemoryAddresses({});
        kernel.batch(renderDummyState(wanted));
        expect(plain(read(kernel))).to.deep.equal(plain(wanted));
      }),
    ));

  it('makes the interface before it binds anything', () => {
    const wanted = { exists: true, addresses: new Set([ip('172.20.1.1')]) };
    const { additions } = diffDummy({ exists: false, addresses: new Set() }, wanted, always);
    expect(additions.map(({ kind }) => kind)).to.deep.equal(['create-interface', 'bind-address']);
  });

  it('never takes the interface away', () => {
    const present = { exists: true, addresses: new Set([ip('172.20.1.1')]) };
    const { additions, removals } = diffDummy(present, { exists: false, addresses: new Set() }, always);
    expect([additions, removals]).to.deep.equal([[], [{ kind: 'unbind-address', address: '172.20.1.1' }]]);
    expect(applyDummySteps(present, removals)).to.deep.equal({ exists: true, addresses: new Set() });
  });

  it('leaves alone what somebody else has bound, and tells of it', () => {
    const [ours, theirs, wanted] = ['172.20.1.1', '172.20.1.2', '172.20.1.3'].map(ip);
    if (!ours || !theirs || !wanted) throw new Error('addresses are missing');
    const present = { exists: true, addresses: new Set([ours, theirs]) };
    const diff = diffDummy(present, { exists: true, addresses: new Set([wanted]) }, (address) => address === ours);
    expect(diff).to.deep.equal({
      additions: [{ kind: 'bind-address', address: wanted }],
      removals: [{ kind: 'unbind-address', address: ours }],
      foreign: [theirs],
    });
  });
});

function anyDummy(): fc.Arbitrary<DummyState> {
  const often = fc.constantFrom(...['172.20.1.1', '172.20.1.2', 'fd00::1', 'fd00::2'].map(ip));
  const address = fc
    .oneof(
      { weight: 3, arbitrary: often },
      { weight: 1, arbitrary: anyAddress('IPv4') },
      { weight: 1, arbitrary: anyAddress('IPv6') },
    )
    .filter((each) => !isLoopback(each) && !(each.includes(':') && isLinkLocal(each)));
  return fc
    .uniqueArray(address, { maxLength: 5 })
    .map((addresses) => ({ exists: true, addresses: new Set(addresses) }));
}

function read(kernel: MemoryAddresses): DummyState {
  return dummyOf(parseAddressShow(kernel.show()) ?? new Map());
}

function plain({ exists, addresses }: DummyState) {
  return { exists, addresses: [...addresses].sort() };
}
