import { expect } from 'chai';
import { real, server } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import type { KeptServer } from '../kernel/ipvs/diff.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import { Drains } from './drains.ts';

describe('sync/drains', () => {
  const cart = server();
  const key = virtualServerKey(cart);
  const old: KeptServer = { why: 'draining', server: cart, real: real('10.180.0.1', { weight: 0 }) };

  /** Milliseconds until the next look after each of these passes, which look at what is due. */
  function waits(drains: Drains, timesMs: readonly number[]): readonly (number | undefined)[] {
    return timesMs.map((nowMs) => {
      drains.passed({ scope: new Set([key]), looked: new Set(drains.due(nowMs).servers) }, [old], nowMs);
      return drains.untilDueMs(nowMs);
    });
  }

  it('looks soon, then less and less often, at the latest every half minute', () => {
    expect(waits(new Drains(0), [0, 1000, 3000, 7000, 15_000, 31_000, 61_000])).to.deep.equal([
      1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
    ]);
  });

  it('puts no look off because the virtual server keeps changing meanwhile', () => {
    expect(waits(new Drains(0), [0, 300, 600, 900, 1000, 2000])).to.deep.equal([1000, 700, 400, 100, 2000, 1000]);
  });

  it('has looked at everything in a pass that read everything', () => {
    const drains = new Drains(0);
    waits(drains, [0]);
    drains.passed({ scope: 'everything', looked: 'everything' }, [old], 500);
    expect(drains.untilDueMs(500)).to.equal(2000);
  });

  it('looks when the time that a drain may take is over', () => {
    expect(waits(new Drains(2500), [0, 1000])).to.deep.equal([1000, 1500]);
  });

  it('looks at once at one that lingers at an address where none may, and at no other', () => {
    const drains = new Drains(0);
    const elsewhere = server([], { address: ip('172.20.1.2') });
    const kept: readonly KeptServer[] = [
      old,
      { why: 'draining', server: elsewhere, real: real('10.180.0.2', { weight: 0 }) },
      { why: 'lingering', server: elsewhere },
    ];
    drains.passed({ scope: 'everything', looked: 'everything' }, kept, 0);
    const taken = (...addresses: string[]) => drains.due(1, (address) => addresses.includes(address)).servers;
    expect(taken('172.20.1.1')).to.deep.equal([]);
    expect(taken('172.20.1.1', '172.20.1.2')).to.deep.equal([virtualServerKey(elsewhere)]);
  });

  it('has nothing to look at once nothing is kept', () => {
    const drains = new Drains(0);
    waits(drains, [0]);
    drains.passed({ scope: new Set([key]), looked: new Set() }, [], 500);
    expect([drains.count, drains.untilDueMs(500)]).to.deep.equal([0, undefined]);
  });
});
