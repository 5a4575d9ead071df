import { expect } from 'chai';
import { ipvs, real, server } from '../../../test/builders/kernel-states.ts';
import { ip } from '../../../test/builders/net.ts';
import { ipvsOfFamily, realServerKey, virtualServerKey } from './state.ts';

describe('kernel/ipvs/state', () => {
  const [ipv4, ipv6] = [server([real()]), server([], { protocol: 'UDP', address: ip('fd00::1') })];

  it('names virtual servers by protocol, address and port, and real servers by address and port', () => {
    expect([ipv4, ipv6].map(virtualServerKey)).to.deep.equal(['TCP 172.20.1.1:80', 'UDP [fd00::1]:80']);
    expect([real(), real('fd00:180::1')].map(realServerKey)).to.deep.equal(['10.180.0.1:8080', '[fd00:180::1]:8080']);
  });

  it('divides virtual servers by family', () => {
    const both = ipvs(ipv4, ipv6);
    expect([...ipvsOfFamily(both, 'IPv4').values()]).to.deep.equal([ipv4]);
    expect([...ipvsOfFamily(both, 'IPv6').values()]).to.deep.equal([ipv6]);
  });
});
