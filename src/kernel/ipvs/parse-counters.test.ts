import { expect } from 'chai';
import { parseConnections, parseIpvsCounters } from './parse-counters.ts';

const HEAD = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes
  -> RemoteAddress:Port
`;

describe('kernel/ipvs/parse-counters', () => {
  it('reads the counters of both families, large ones and long addresses too', () => {
    const text = `${HEAD}TCP  172.20.1.1:80                       3       12       10     1200 12345678901
  -> 10.180.0.1:8080                     2        8        6      800      600
UDP  [fd00:aaaa:bbbb:cccc:dddd:eeee:ffff:1111]:53        1        1        0       60        0
  -> [fd00:180::1]:53                    1        1        0       60        0
`;
    expect([...parseIpvsCounters(text)]).to.deep.equal([
      { frontend: 'TCP 172.20.1.1:80', backend: undefined, values: [3, 12, 10, 1200, 12345678901] },
      { frontend: 'TCP 172.20.1.1:80', backend: '10.180.0.1:8080', values: [2, 8, 6, 800, 600] },
      { frontend: 'UDP [fd00:aaaa:bbbb:cccc:dddd:eeee:ffff:1111]:53', backend: undefined, values: [1, 1, 0, 60, 0] },
      {
        frontend: 'UDP [fd00:aaaa:bbbb:cccc:dddd:eeee:ffff:1111]:53',
        backend: '[fd00:180::1]:53',
        values: [1, 1, 0, 60, 0],
      },
    ]);
  });

  it('leaves services by mark out, with their real servers', () => {
    const text = `${HEAD}FWM  7   0 0 0 0 0\n  -> 10.180.0.1:0   0 0 0 0 0\n`;
    expect([...parseIpvsCounters(text)]).to.deep.equal([]);
  });

  for (const line of ['TCP  172.20.1.1:80  3  12K  10  1200  90', 'TCP  172.20.1.1:80  rr', 'what is this']) {
    it(`tells that it does not understand "${line}"`, () =>
      expect([...parseIpvsCounters(`${HEAD}${line}\n`)]).to.deep.equal([undefined]));
  }

  it('reads nothing from a kernel that has no virtual servers', () => {
    expect([...parseIpvsCounters(HEAD)]).to.deep.equal([]);
    expect([...parseIpvsCounters('')]).to.deep.equal([]);
  });

  it('reads the connections that stand, from the hexadecimal form of the kernel', () => {
    const text = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port Forward Weight ActiveConn InActConn
TCP  AC140101:0050 rr
  -> 0AB40001:1F90      Masq    1      2          5
UDP  [fd00:0020:0000:0000:0000:0000:0000:0001]:0035 rr
  -> [fd00:0180:0000:0000:0000:0000:0000:0001]:0035      Masq    1      0          1
FWM  00000007 rr
  -> 0AB40001:1F90      Masq    1      9          9
`;
    expect([...parseConnections(text)]).to.deep.equal([
      { frontend: 'TCP 172.20.1.1:80', backend: '10.180.0.1:8080', values: [2, 5] },
      { frontend: 'UDP [fd00:20::1]:53', backend: '[fd00:180::1]:53', values: [0, 1] },
    ]);
  });
});
