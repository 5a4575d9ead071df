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
});
