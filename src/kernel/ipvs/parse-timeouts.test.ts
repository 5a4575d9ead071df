import { expect } from 'chai';
import { parseTimeouts } from './parse-timeouts.ts';

describe('kernel/ipvs/parse-timeouts', () => {
  it('reads what ipvsadm prints', () =>
    expect(parseTimeouts('Timeout (tcp tcpfin udp): 900 120 300\n')).to.deep.equal({
      tcp: 900,
      tcpFin: 120,
      udp: 300,
    }));

  for (const text of ['', 'Timeout (tcp tcpfin udp): 900 120\n', 'IP Virtual Server version 1.2.1 (size=4096)\n']) {
    it(`reads nothing from ${JSON.stringify(text)}`, () => expect(parseTimeouts(text)).to.equal(undefined));
  }
});
