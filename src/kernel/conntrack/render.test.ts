import { expect } from 'chai';
import { ip, port } from '../../../test/builders/net.ts';
import { renderFlowDeletion } from './render.ts';

describe('kernel/conntrack/render', () => {
  it('names both ends of the flows', () => {
    const to = { address: ip('172.20.1.1'), port: port(53) };
    const answeredBy = { address: ip('10.180.0.2'), port: port(5353) };
    expect(renderFlowDeletion({ to, answeredBy }).join(' ')).to.equal(
      '-D -f ipv4 -p udp --orig-dst 172.20.1.1 --orig-port-dst 53 --reply-src 10.180.0.2 --reply-port-src 5353',
    );
  });

  it('names one end where it does not matter who answers', () => {
    const to = { address: ip('fd00:20::1'), port: port(53) };
    expect(renderFlowDeletion({ to, answeredBy: undefined }).join(' ')).to.equal(
      '-D -f ipv6 -p udp --orig-dst fd00:20::1 --orig-port-dst 53',
    );
  });
});
