import { expect } from 'chai';
import { decodeEndpointSlice } from './decode-slice.ts';
import { createInterner, type Intern } from './interner.ts';

describe('kube/interner', () => {
  it('gives back what it is given, also beyond its limit', () => {
    const intern = createInterner(2);
    const texts = ['a', 'b', 'a', 'c', 'a', 'b'];
    expect(texts.map((text) => intern(text))).to.deep.equal(texts);
  });

  it('is asked for node names, zones and Services of slices, but not for what stands in one slice only', () => {
    const asked: string[] = [];
    const intern: Intern = (text) => {
      asked.push(text);
      return text;
    };
    const hints = { forZones: [{ name: 'zone-a' }], forNodes: [{ name: 'node-b' }] };
    const endpoints = [{ addresses: ['10.180.0.1'], nodeName: 'node-a', hints }];
    const metadata = { name: 'cart-1', labels: { 'kubernetes.io/service-name': 'cart' } };
    decodeEndpointSlice({ metadata, addressType: 'IPv4', ports: [{ port: 80 }], endpoints }, intern);
    expect(asked).to.have.members(['node-a', 'zone-a', 'node-b', 'default/cart']);
  });
});
