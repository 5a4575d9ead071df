import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, slice, sliceEndpoint, slicePort } from '../../test/builders/objects.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import { mergeSlices } from './merge-slices.ts';

describe('tracking/merge-slices', () => {
  it('joins every endpoint with every port of its slice', () => {
    const merged = mergeSlices(
      [
        slice({
          ports: [slicePort(), slicePort({ name: 'dns', protocol: 'UDP', port: port(53) })],
          endpoints: [sliceEndpoint('10.180.0.1'), sliceEndpoint('10.180.0.2')],
        }),
      ],
      'node-a',
    );
    expect(keysAndEndpoints(merged)).to.deep.equal({
      'shop/cart:http/TCP': ['10.180.0.1:8080', '10.180.0.2:8080'],
      'shop/cart:dns/UDP': ['10.180.0.1:53', '10.180.0.2:53'],
    });
  });

  it('joins slices that carry different numbers for the same name', () => {
    const merged = mergeSlices(
      [
        slice({ endpoints: [sliceEndpoint('10.180.0.1')] }),
        slice({
          name: 'shop/cart-2',
          ports: [slicePort({ port: port(9090) })],
          endpoints: [sliceEndpoint('10.180.0.1')],
        }),
      ],
      'node-a',
    );
    expect(keysAndEndpoints(merged)).to.deep.equal({ 'shop/cart:http/TCP': ['10.180.0.1:8080', '10.180.0.1:9090'] });
  });

  it('keeps ports apart that differ in name or protocol', () => {
    const ports = [slicePort({ name: '' }), slicePort(), slicePort({ protocol: 'UDP' })];
    const merged = mergeSlices([slice({ ports, endpoints: [sliceEndpoint('10.180.0.1')] })], 'node-a');
    expect([...merged.keys()]).to.deep.equal(['shop/cart:/TCP', 'shop/cart:http/TCP', 'shop/cart:http/UDP']);
  });

  it('has no entry for a port without endpoints', () => {
    expect(mergeSlices([slice(), slice({ name: 'shop/cart-2', ports: [] })], 'node-a')).to.deep.equal(new Map());
    expect(mergeSlices([], 'node-a')).to.deep.equal(new Map());
  });

  it('sorts endpoints by their text', () => {
    const addresses = ['10.0.0.2', '10.0.0.10', '9.0.0.1', '10.0.0.100'];
    const merged = mergeSlices([slice({ endpoints: addresses.map((address) => sliceEndpoint(address)) })], 'node-a');
    expect(keysAndEndpoints(merged)['shop/cart:http/TCP']).to.deep.equal([
      '10.0.0.100:8080',
      '10.0.0.10:8080',
      '10.0.0.2:8080',
      '9.0.0.1:8080',
    ]);
  });

  it('carries conditions and hints over', () => {
    const given = { ready: false, serving: true, terminating: true, zoneHints: ['a', 'b'], nodeHints: ['node-a'] };
    const merged = mergeSlices([slice({ endpoints: [sliceEndpoint('10.180.0.1', given)] })], 'node-a');
    expect([...merged.values()]).to.deep.equal([[endpoint({ address: ip('10.180.0.1'), ...given })]]);
  });

  const places: readonly (readonly [string, string | undefined, string, boolean])[] = [
    ['on this node', 'node-a', 'node-a', true],
    ['on another node', 'node-b', 'node-a', false],
    ['on no known node', undefined, 'node-a', false],
    ['on a node whose name differs in case', 'Node-A', 'node-a', false],
    ['on a node whose name begins alike', 'node-a1', 'node-a', false],
    ['without a name while ours is not known either', '', '', false],
  ];
  for (const [name, endpointNode, ownNode, local] of places) {
    it(`takes an endpoint ${name} for ${local ? 'local' : 'remote'}`, () => {
      const merged = mergeSlices(
        [slice({ endpoints: [sliceEndpoint('10.180.0.1', { nodeName: endpointNode })] })],
        ownNode,
      );
      expect([...merged.values()].flat().map((each) => each.local)).to.deep.equal([local]);
    });
  }

  describe('the same address and port more than once', () => {
    const live = (note: string) => sliceEndpoint('10.180.0.1', { zoneHints: [note] });
    const dying = (note: string) => sliceEndpoint('10.180.0.1', { zoneHints: [note], ready: false, terminating: true });
    const cases: readonly (readonly [string, readonly ReturnType<typeof live>[], string])[] = [
      ['keeps the first of two that live', [live('first'), live('second')], 'first'],
      ['keeps the first of two that terminate', [dying('first'), dying('second')], 'first'],
      ['keeps one that lives before one that terminates', [live('first'), dying('second')], 'first'],
      ['replaces one that terminates by one that lives', [dying('first'), live('second')], 'second'],
      ['replaces it once only', [dying('first'), live('second'), live('third')], 'second'],
    ];
    for (const [name, endpoints, winner] of cases) {
      const inSlice = slice({ endpoints });
      const inSlices = endpoints.map((each, index) => slice({ name: `shop/cart-${index}`, endpoints: [each] }));
      it(`${name}, within a slice and across slices, whatever their order`, () => {
        expect(winners([inSlice])).to.deep.equal([winner]);
        expect(winners(inSlices)).to.deep.equal([winner]);
        expect(winners([...inSlices].reverse())).to.deep.equal([winner]);
      });
    }

    it('takes the winner as a whole', () => {
      const first = sliceEndpoint('10.180.0.1', {
        ready: false,
        serving: false,
        terminating: true,
        nodeName: 'node-a',
        nodeHints: ['x'],
      });
      const second = sliceEndpoint('10.180.0.1', { ready: false, serving: false });
      const merged = mergeSlices([slice({ endpoints: [first, second] })], 'node-a');
      expect([...merged.values()]).to.deep.equal([
        [endpoint({ address: ip('10.180.0.1'), ready: false, serving: false })],
      ]);
    });
  });
});

function keysAndEndpoints(merged: ReturnType<typeof mergeSlices>): Record<string, string[]> {
  return Object.fromEntries(
    [...merged].map(([key, list]) => [key, list.map(({ address, port: number }) => `${address}:${number}`)]),
  );
}

function winners(slices: readonly EndpointSlice[]): string[] {
  return [...mergeSlices(slices, 'node-a').values()].flat().flatMap(({ zoneHints }) => zoneHints);
}
