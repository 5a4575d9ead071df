import { expect } from 'chai';
import fc from 'fast-check';
import { port } from '../../test/builders/net.ts';
import { portSpec, service, slice, sliceEndpoint, slicePort } from '../../test/builders/objects.ts';
import type { EndpointSlice, SliceEndpoint } from '../model/endpoint-slice.ts';
import { serviceName } from '../model/names.ts';
import type { Service } from '../model/service.ts';
import { describeEndpointChange, describeServiceChange, type MaterialChange } from './describe-change.ts';
import { mergeSlices } from './merge-slices.ts';

describe('tracking/describe-change', () => {
  const ready = (last: number, given: Partial<SliceEndpoint> = {}) => sliceEndpoint(`10.180.0.${last}`, given);
  const notReady = (last: number) => ready(last, { ready: false, serving: false });
  const dying = (last: number) => ready(last, { ready: false, terminating: true });

  describe('endpoints', () => {
    const cases: readonly {
      readonly name: string;
      readonly before: readonly SliceEndpoint[];
      readonly after: readonly SliceEndpoint[];
      readonly change: Partial<MaterialChange> | undefined;
    }[] = [
      {
        name: 'sees a first endpoint come',
        before: [],
        after: [ready(1)],
        change: { totalAfter: 1, usableAfter: 1, changedEndpoints: 1, usableCame: 1, addressesChanged: true },
      },
      {
        name: 'sees the last endpoint go',
        before: [ready(1)],
        after: [],
        change: { totalBefore: 1, usableBefore: 1, changedEndpoints: 1, usableWent: 1, addressesChanged: true },
      },
      {
        name: 'sees a recreated pod, though the count stays',
        before: [ready(1), ready(2)],
        after: [ready(1), ready(3)],
        change: { ...counts(2, 2, 2, 2), changedEndpoints: 2, usableWent: 1, usableCame: 1, addressesChanged: true },
      },
      {
        name: 'sees an endpoint become ready',
        before: [ready(1), notReady(2)],
        after: [ready(1), ready(2)],
        change: { ...counts(2, 2, 1, 2), changedEndpoints: 1, usableCame: 1, turnedUsable: 1 },
      },
      {
        name: 'sees an endpoint stop being ready',
        before: [ready(1), ready(2)],
        after: [ready(1), notReady(2)],
        change: { ...counts(2, 2, 2, 1), changedEndpoints: 1, usableWent: 1, turnedUnusable: 1 },
      },
      {
        name: 'sees two endpoints change places in readiness, though the count stays',
        before: [ready(1), notReady(2)],
        after: [notReady(1), ready(2)],
        change: {
          ...counts(2, 2, 1, 1),
          ...{ changedEndpoints: 2, usableWent: 1, turnedUnusable: 1, usableCame: 1, turnedUsable: 1 },
        },
      },
      {
        name: 'counts an endpoint that terminates as gone while others are ready',
        before: [ready(1), ready(2)],
        after: [ready(1), dying(2)],
        change: { ...counts(2, 2, 2, 1), changedEndpoints: 1, usableWent: 1, turnedUnusable: 1 },
      },
      {
        name: 'counts one that serves while terminating as usable when none is ready',
        before: [ready(1), notReady(2)],
        after: [dying(1), notReady(2)],
        change: counts(2, 2, 1, 1),
      },
      {
        name: 'lets one that is ready take over from one that terminates',
        before: [dying(1)],
        after: [dying(1), ready(2)],
        change: {
          ...counts(1, 2, 1, 1),
          ...{ changedEndpoints: 2, usableWent: 1, turnedUnusable: 1, usableCame: 1, addressesChanged: true },
        },
      },
      {
        name: 'sees an address come that is not usable',
        before: [ready(1)],
        after: [ready(1), notReady(2)],
        change: { ...counts(1, 2, 1, 1), changedEndpoints: 1, addressesChanged: true },
      },
      {
        name: 'sees hints change and nothing else',
        before: [ready(1)],
        after: [ready(1, { zoneHints: ['a'] })],
        change: counts(1, 1, 1, 1),
      },
      {
        name: 'sees an endpoint become local and nothing else',
        before: [ready(1)],
        after: [ready(1, { nodeName: 'node-a' })],
        change: counts(1, 1, 1, 1),
      },
      {
        name: 'sees nothing when an endpoint moves between other nodes',
        before: [ready(1, { nodeName: 'node-b' })],
        after: [ready(1, { nodeName: 'node-c' })],
        change: undefined,
      },
      { name: 'sees nothing when there are no endpoints at all', before: [], after: [], change: undefined },
      {
        name: 'sees nothing when only the order differs',
        before: [ready(1), ready(2)],
        after: [ready(2), ready(1)],
        change: undefined,
      },
    ];
    for (const { name, before, after, change } of cases) {
      it(name, () => {
        const described = describeSlices([slice({ endpoints: before })], [slice({ endpoints: after })]);
        expect(described).to.deep.equal(change && { ...NOTHING, ...change });
      });
    }

    it('sees another port number behind the same address, once an endpoint', () => {
      const endpoints = [ready(1), ready(2)];
      const ports = [slicePort({ port: port(9090) }), slicePort({ name: 'admin', port: port(9091) })];
      expect(describeSlices([slice({ endpoints })], [slice({ endpoints, ports })])).to.deep.equal({
        ...NOTHING,
        ...counts(2, 2, 2, 2),
        changedEndpoints: 2,
        portsChanged: true,
      });
    });

    it('counts an address once, whatever the number of its ports and slices', () => {
      const ports = [slicePort(), slicePort({ name: 'admin' })];
      const slices = ['shop/cart-1', 'shop/cart-2'].map((name) => slice({ name, ports, endpoints: [ready(1)] }));
      expect(describeSlices([], slices)).to.deep.equal({
        ...NOTHING,
        ...{ totalAfter: 1, usableAfter: 1, changedEndpoints: 1, usableCame: 1, addressesChanged: true },
      });
    });

    it('takes an address for usable that is so for one of its ports', () => {
      const admin = [slicePort({ name: 'admin' })];
      const slices = [
        slice({ endpoints: [ready(1), dying(2)] }),
        slice({ name: 'shop/cart-2', ports: admin, endpoints: [dying(2)] }),
      ];
      expect(describeSlices([], slices)).to.include({ totalAfter: 2, usableAfter: 2 });
    });
  });

  describe('Services', () => {
    const plain = service();
    const cases: readonly (readonly [string, Service | undefined, Service | undefined, string | undefined])[] = [
      ['is added', undefined, plain, 'added'],
      ['is removed', plain, undefined, 'removed'],
      ['gets a node port', plain, service({ ports: [portSpec({ nodePort: port(30_080) })] }), 'changed'],
      ['loses its ports', plain, service({ ports: [] }), 'changed'],
      ['gets an address of the other family', plain, service({ addresses: ['172.20.1.1', 'fd00:172::1'] }), 'changed'],
      ['becomes headless', plain, service({ clusterIP: 'None' }), 'removed'],
      ['is one with an address again', service({ type: 'ExternalName' }), plain, 'added'],
      ['is given anew without a change', plain, service(), undefined],
      ['is headless', undefined, service({ clusterIP: 'None' }), undefined],
    ];
    for (const [name, previous, current, object] of cases) {
      it(`tells that a Service ${name}: ${object ?? 'nothing'}`, () => {
        expect(describeServiceChange(previous, current, ['IPv4', 'IPv6'], new Map())?.object).to.equal(object);
      });
    }

    it('passes over what changes for a family that is not served', () => {
      const both = service({ addresses: ['172.20.1.1', 'fd00:172::1'] });
      expect(describeServiceChange(plain, both, ['IPv4'], new Map())).to.equal(undefined);
    });

    it('counts the endpoints that the Service has meanwhile', () => {
      const endpoints = mergeSlices([slice({ endpoints: [ready(1), notReady(2)] })], 'node-a');
      expect(describeServiceChange(undefined, plain, ['IPv4'], endpoints)).to.deep.equal({
        ...NOTHING,
        ...counts(2, 2, 1, 1),
        object: 'added',
      });
    });

    it('knows no name when it is given no Service', () => {
      expect(describeServiceChange(undefined, undefined, ['IPv4'], new Map())).to.equal(undefined);
    });
  });

  it('agrees with sets of addresses, whatever the endpoints', () => {
    const any = fc.record({ last: fc.nat(5), ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() });
    const list = fc.uniqueArray(any, { selector: ({ last }) => last, maxLength: 6 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const [was, is] = [before, after].map((given) =>
          given.map(({ last, ...conditions }) => ready(last, conditions)),
        );
        const [usableWas, usableIs] = [usable(was ?? []), usable(is ?? [])];
        const [all, allAfter] = [addresses(was ?? []), addresses(is ?? [])];
        const change = describeSlices([slice({ endpoints: was ?? [] })], [slice({ endpoints: is ?? [] })]);
        const appearedOrWent = all.symmetricDifference(allAfter);
        const turned = usableWas.symmetricDifference(usableIs).difference(appearedOrWent);
        expect(change ?? { ...NOTHING, ...counts(all.size, all.size, usableWas.size, usableWas.size) }).to.deep.equal({
          ...NOTHING,
          ...counts(all.size, allAfter.size, usableWas.size, usableIs.size),
          changedEndpoints: appearedOrWent.size + turned.size,
          usableWent: usableWas.difference(usableIs).size,
          usableCame: usableIs.difference(usableWas).size,
          turnedUnusable: turned.intersection(usableWas).size,
          turnedUsable: turned.intersection(usableIs).size,
          addressesChanged: appearedOrWent.size > 0,
        });
      }),
      { numRuns: 500 },
    );
  });
});

const NOTHING: MaterialChange = {
  service: serviceName('shop', 'cart'),
  object: 'same',
  totalBefore: 0,
  totalAfter: 0,
  usableBefore: 0,
  usableAfter: 0,
  changedEndpoints: 0,
  usableWent: 0,
  usableCame: 0,
  turnedUnusable: 0,
  turnedUsable: 0,
  portsChanged: false,
  addressesChanged: false,
};

function counts(totalBefore: number, totalAfter: number, usableBefore: number, usableAfter: number) {
  return { totalBefore, totalAfter, usableBefore, usableAfter };
}

function addresses(endpoints: readonly SliceEndpoint[]): ReadonlySet<string> {
  return new Set(endpoints.map(({ address }) => address));
}

function usable(endpoints: readonly SliceEndpoint[]): ReadonlySet<string> {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  return addresses(ready.length > 0 ? ready : endpoints.filter(({ serving, terminating }) => serving && terminating));
}

function describeSlices(before: readonly EndpointSlice[], after: readonly EndpointSlice[]) {
  const name = serviceName('shop', 'cart');
  return describeEndpointChange(name, mergeSlices(before, 'node-a'), mergeSlices(after, 'node-a'));
}
