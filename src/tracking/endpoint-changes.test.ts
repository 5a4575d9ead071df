import { expect } from 'chai';
import fc from 'fast-check';
import { ip } from '../../test/builders/net.ts';
import { endpoint, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import { EndpointChanges } from './endpoint-changes.ts';
import { mergeSlices } from './merge-slices.ts';

describe('tracking/endpoint-changes', () => {
  let changes: EndpointChanges;
  const one = slice({ endpoints: [sliceEndpoint('10.180.0.1')] });
  const two = slice({ endpoints: [sliceEndpoint('10.180.0.1'), sliceEndpoint('10.180.0.2')] });
  const second = slice({ name: 'shop/cart-2', endpoints: [sliceEndpoint('10.180.0.3')] });

  beforeEach(() => {
    changes = new EndpointChanges('IPv4', 'node-a');
  });

  /** Takes what is pending: the Services that changed, and every address by key. */
  function take(): { changed: string[]; endpoints: Record<string, string[]> } {
    const { changed, endpoints } = changes.take();
    const addresses = [...endpoints].map(([key, list]) => [key, list.map(({ address }) => address)] as const);
    return { changed: [...changed], endpoints: Object.fromEntries(addresses) };
  }

  it('adds the endpoints of a slice at the next pass, and names its Service', () => {
    expect(changes.record(undefined, two)).to.equal(true);
    expect(take()).to.deep.equal({
      changed: ['shop/cart'],
      endpoints: { 'shop/cart:http/TCP': ['10.180.0.1', '10.180.0.2'] },
    });
    expect(take().changed).to.deep.equal([]);
  });

  it('joins slices, and removes only what a removed slice alone had', () => {
    changes.record(undefined, two);
    changes.record(undefined, second);
    changes.record(undefined, slice({ name: 'shop/cart-3', endpoints: [sliceEndpoint('10.180.0.1')] }));
    take();
    expect(changes.record(two, undefined)).to.equal(true);
    expect(take().endpoints).to.deep.equal({ 'shop/cart:http/TCP': ['10.180.0.1', '10.180.0.3'] });
  });

  it('leaves nothing behind when the last slice goes', () => {
    changes.record(undefined, one);
    take();
    changes.record(one, undefined);
    expect(take()).to.deep.equal({ changed: ['shop/cart'], endpoints: {} });
    expect(changes.record(one, undefined)).to.equal(false);
  });

  it('takes the removal of a slice that it never saw for no change', () => {
    expect(changes.record(one, undefined)).to.equal(false);
    changes.record(undefined, one);
    expect(changes.record(second, undefined)).to.equal(false);
    expect(changes.record(undefined, undefined)).to.equal(false);
  });

  it('takes the same content again for no change, pending or applied', () => {
    changes.record(undefined, one);
    expect(changes.record(undefined, { ...one })).to.equal(false);
    take();
    expect(changes.record(one, { ...one })).to.equal(false);
    expect(take().changed).to.deep.equal([]);
  });

  it('compares with what is pending before what is applied: going back counts and names the Service', () => {
    changes.record(undefined, one);
    const before = changes.take().endpoints.get(keyOf());
    expect(changes.record(one, two)).to.equal(true);
    expect(changes.record(two, one)).to.equal(true);
    const after = changes.take();
    expect([...after.changed]).to.deep.equal(['shop/cart']);
    expect(after.endpoints.get(keyOf())).to.equal(before);
  });

  it('adds a slice again that was removed before the pass', () => {
    changes.record(undefined, one);
    take();
    changes.record(one, undefined);
    expect(changes.record(one, undefined)).to.equal(false);
    expect(changes.record(undefined, one)).to.equal(true);
    expect(take().endpoints).to.deep.equal({ 'shop/cart:http/TCP': ['10.180.0.1'] });
  });

  it('forgets a slice that came and went before the pass', () => {
    changes.record(undefined, one);
    expect(changes.record(one, undefined)).to.equal(true);
    expect(take().endpoints).to.deep.equal({});
  });

  it('moves a slice whose label names another Service', () => {
    const moved = slice({ service: 'shop/other', endpoints: one.endpoints });
    changes.record(undefined, one);
    take();
    expect(changes.record(one, moved)).to.equal(true);
    const { changed, endpoints } = take();
    expect(changed.sort()).to.deep.equal(['shop/cart', 'shop/other']);
    expect(endpoints).to.deep.equal({ 'shop/other:http/TCP': ['10.180.0.1'] });
  });

  it('loses a slice that moves to the other family and gains one that comes from it', () => {
    const ipv6 = slice({ family: 'IPv6', endpoints: [sliceEndpoint('fd00:180::1')] });
    changes.record(undefined, one);
    take();
    expect(changes.record(one, ipv6)).to.equal(true);
    expect(take().endpoints).to.deep.equal({});
    expect(changes.record(ipv6, one)).to.equal(true);
    expect(take().endpoints).to.deep.equal({ 'shop/cart:http/TCP': ['10.180.0.1'] });
  });

  it('passes over slices of the other family', () => {
    const ipv6 = slice({ family: 'IPv6', endpoints: [sliceEndpoint('fd00:180::1')] });
    expect(changes.record(undefined, ipv6)).to.equal(false);
    expect(changes.record(ipv6, undefined)).to.equal(false);
    expect(take()).to.deep.equal({ changed: [], endpoints: {} });
  });

  it('keeps slices of two namespaces apart that have the same name', () => {
    changes.record(undefined, one);
    changes.record(
      undefined,
      slice({ name: 'bank/cart-1', service: 'bank/cart', endpoints: [sliceEndpoint('10.180.9.9')] }),
    );
    changes.record(one, undefined);
    expect(take().endpoints).to.deep.equal({ 'bank/cart:http/TCP': ['10.180.9.9'] });
  });

  it('keeps the identity of lists that have not changed', () => {
    const ports = [...two.ports, { ...(two.ports[0] ?? slice().ports[0]), name: 'admin' }] as EndpointSlice['ports'];
    changes.record(undefined, slice({ ports, endpoints: one.endpoints }));
    changes.record(undefined, slice({ name: 'shop/other-1', service: 'shop/other', endpoints: one.endpoints }));
    const before = new Map(changes.take().endpoints);
    changes.record(undefined, second);
    const after = changes.take().endpoints;
    const kept = [...after].filter(([key, list]) => list === before.get(key)).map(([key]) => key);
    expect(kept).to.deep.equal(['shop/cart:admin/TCP', 'shop/other:http/TCP']);
  });

  it('knows local endpoints by the name of the node', () => {
    changes.record(undefined, slice({ endpoints: [sliceEndpoint('10.180.0.1', { nodeName: 'node-a' })] }));
    expect([...changes.take().endpoints.values()]).to.deep.equal([
      [endpoint({ address: ip('10.180.0.1'), local: true })],
    ]);
  });

  it('ends with the endpoints of the slices that are there, whatever happened before and between passes', () => {
    const content = fc.record({
      service: fc.constantFrom('shop/cart', 'shop/other'),
      family: fc.constantFrom('IPv4' as const, 'IPv4' as const, 'IPv6' as const),
      last: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
    });
    const event = fc.record({ which: fc.nat(2), content: fc.option(content, { nil: undefined }), pass: fc.boolean() });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 15 }), (events) => {
        const tracked = new EndpointChanges('IPv4', 'node-a');
        const there: (EndpointSlice | undefined)[] = [];
        for (const { which, content: given, pass } of events) {
          const next =
            given &&
            slice({
              name: `shop/${which}`,
              service: given.service,
              family: given.family,
              endpoints: given.last.map((last) =>
                sliceEndpoint(given.family === 'IPv4' ? `10.180.0.${last}` : `fd00::${last}`),
              ),
            });
          tracked.record(there[which], next);
          there[which] = next;
          if (pass) tracked.take();
        }
        const present = there.filter((each) => each?.family === 'IPv4').filter((each) => each !== undefined);
        const wanted = new Map(
          [...Map.groupBy(present, ({ service }) => service).values()].flatMap((of) => [...mergeSlices(of, 'node-a')]),
        );
        const { endpoints } = tracked.take();
        expect(Object.fromEntries(endpoints)).to.deep.equal(Object.fromEntries(wanted));
      }),
    );
  });
});

function keyOf() {
  const [key] = mergeSlices([slice({ endpoints: [sliceEndpoint('10.180.0.1')] })], 'node-a').keys();
  if (!key) throw new Error('the slice has no port');
  return key;
}
