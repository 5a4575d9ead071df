import { expect } from 'chai';
import { ip, port } from '../../../test/builders/net.ts';
import { flowEndKey } from './state.ts';

describe('kernel/conntrack/state', () => {
  it('names an end of a flow by address and port, IPv6 in brackets', () => {
    expect(flowEndKey({ address: ip('172.20.1.1'), port: port(53) })).to.equal('172.20.1.1:53');
    expect(flowEndKey({ address: ip('fd00:20::1'), port: port(53) })).to.equal('[fd00:20::1]:53');
  });
});
