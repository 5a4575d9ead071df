import { expect } from 'chai';
import { serviceName, servicePortKey } from './names.ts';

describe('model/names', () => {
  it('names a service port by all four of its fields', () => {
    const cart = serviceName('shop', 'cart');
    expect(cart).to.equal('shop/cart');
    expect(servicePortKey(cart, 'http', 'TCP')).to.equal('shop/cart:http/TCP');
    expect(servicePortKey(cart, '', 'UDP')).to.equal('shop/cart:/UDP');
  });
});
