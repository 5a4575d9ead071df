import { expect } from 'chai';
import { service, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { Tracker } from './tracker.ts';

describe('tracking/tracker', () => {
  const cart = service();
  const cartSlice = slice({ endpoints: [sliceEndpoint('10.180.0.1', { nodeName: 'node-a' })] });
  const orders: readonly (readonly [string, (tracker: Tracker) => void])[] = [
    [
      'before',
      (tracker) => {
        tracker.recordSlice(undefined, cartSlice);
        tracker.recordService(undefined, cart);
      },
    ],
    [
      'after',
      (tracker) => {
        tracker.recordService(undefined, cart);
        tracker.recordSlice(undefined, cartSlice);
      },
    ],
    [
      'a pass before',
      (tracker) => {
        tracker.recordSlice(undefined, cartSlice);
        tracker.takePendingChanges();
        tracker.recordService(undefined, cart);
      },
    ],
    [
      'a pass after',
      (tracker) => {
        tracker.recordService(undefined, cart);
        tracker.takePendingChanges();
        tracker.recordSlice(undefined, cartSlice);
      },
    ],
  ];
  for (const [name, record] of orders) {
    it(`brings a Service and its endpoints together when the slice comes ${name} it`, () => {
      const tracker = new Tracker('IPv4', 'node-a');
      record(tracker);
      const { family, ports, endpoints, changed } = tracker.takePendingChanges();
      expect([family, [...ports.keys()], [...endpoints.keys()], [...changed]]).to.deep.equal([
        'IPv4',
        ['shop/cart:http/TCP'],
        ['shop/cart:http/TCP'],
        ['shop/cart'],
      ]);
      expect([...endpoints.values()].flat().map(({ local }) => local)).to.deep.equal([true]);
    });
  }

  it('keeps endpoints of a Service that went, for when it comes again', () => {
    const tracker = new Tracker('IPv4', 'node-a');
    tracker.recordService(undefined, cart);
    tracker.recordSlice(undefined, cartSlice);
    tracker.takePendingChanges();
    expect(tracker.recordService(cart, undefined)).to.equal(true);
    const { ports, endpoints } = tracker.takePendingChanges();
    expect([ports.size, endpoints.size]).to.deep.equal([0, 1]);
  });

  it('asks for a pass only for what concerns its family', () => {
    const tracker = new Tracker('IPv6', 'node-a');
    expect(tracker.recordService(undefined, cart)).to.equal(false);
    expect(tracker.recordSlice(undefined, cartSlice)).to.equal(false);
    expect(tracker.recordService(undefined, service({ addresses: ['172.20.1.1', 'fd00::1'] }))).to.equal(true);
  });

  describe('what a slice changes', () => {
    const other = slice({ service: 'shop/other', endpoints: cartSlice.endpoints });

    it('is told against what the next pass would have had, taken or not', () => {
      const tracker = new Tracker('IPv4', 'node-a');
      const second = slice({ name: 'shop/cart-2', endpoints: [sliceEndpoint('10.180.0.2')] });
      const counts = (changes: ReturnType<Tracker['recordSliceChange']>) =>
        changes.map(({ totalBefore, totalAfter }) => [totalBefore, totalAfter]);
      expect(counts(tracker.recordSliceChange(undefined, cartSlice))).to.deep.equal([[0, 1]]);
      expect(counts(tracker.recordSliceChange(undefined, second))).to.deep.equal([[1, 2]]);
      tracker.takePendingChanges();
      expect(counts(tracker.recordSliceChange(second, undefined))).to.deep.equal([[2, 1]]);
      expect(counts(tracker.recordSliceChange(undefined, second))).to.deep.equal([[1, 2]]);
      expect([...tracker.takePendingChanges().endpoints.values()].flat()).to.have.lengthOf(2);
    });

    it('is nothing when it is there already, of the other family, or removed without having been there', () => {
      const tracker = new Tracker('IPv4', 'node-a');
      tracker.recordSliceChange(undefined, cartSlice);
      expect(tracker.recordSliceChange(cartSlice, { ...cartSlice })).to.deep.equal([]);
      expect(tracker.recordSliceChange(undefined, slice({ family: 'IPv6' }))).to.deep.equal([]);
      expect(tracker.recordSliceChange(other, undefined)).to.deep.equal([]);
    });

    it('is told of both Services when it moves', () => {
      const tracker = new Tracker('IPv4', 'node-a');
      tracker.recordSliceChange(undefined, cartSlice);
      const told = tracker.recordSliceChange(cartSlice, { ...cartSlice, service: other.service });
      expect(told.map(({ service: name, usableWent, usableCame }) => [name, usableWent, usableCame])).to.deep.equal([
        ['shop/cart', 1, 0],
        ['shop/other', 0, 1],
      ]);
    });

    it('leaves the latest endpoints of a Service to be asked for', () => {
      const tracker = new Tracker('IPv4', 'node-a');
      expect(tracker.latestEndpoints(cart.name).size).to.equal(0);
      tracker.recordSlice(undefined, cartSlice);
      const pending = tracker.latestEndpoints(cart.name);
      tracker.takePendingChanges();
      expect(pending.size).to.equal(1);
      expect(tracker.latestEndpoints(cart.name)).to.deep.equal(pending);
    });
  });

  it('tells what waits for the next pass: changed Services once each, and every change of a slice', () => {
    const tracker = new Tracker('IPv4', 'node-a');
    expect(tracker.pending).to.deep.equal({ services: 0, slices: 0 });
    tracker.recordService(undefined, cart);
    tracker.recordService(cart, { ...cart, affinitySeconds: 60 });
    tracker.recordSlice(undefined, cartSlice);
    tracker.recordSlice(cartSlice, { ...cartSlice });
    tracker.recordSlice(cartSlice, undefined);
    expect(tracker.pending).to.deep.equal({ services: 1, slices: 2 });
    tracker.takePendingChanges();
    expect(tracker.pending).to.deep.equal({ services: 0, slices: 0 });
  });
});
