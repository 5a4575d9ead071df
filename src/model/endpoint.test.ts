import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint } from '../../test/builders/objects.ts';
import { endpointKey } from './endpoint.ts';

describe('model/endpoint', () => {
  it('names an endpoint by address and port, IPv6 in brackets', () => {
    expect(endpointKey(endpoint())).to.equal('10.180.1.1:8080');
    expect(endpointKey(endpoint({ address: ip('fd00::1'), port: port(53) }))).to.equal('[fd00::1]:53');
  });
});
