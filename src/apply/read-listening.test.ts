import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { machine } from './files-fixture.ts';
import { readListening } from './read-listening.ts';

describe('apply/read-listening', () => {
  const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue\n';

  it('reads ports of both families on which somebody listens', async () => {
    const files = {
      '/proc/net/tcp': `${HEAD}   0: 0100007F:2809 00000000:0000 0A 00000000:00000000 0\n   1: 0100007F:1F90 0100007F:D431 01 0:0\n`,
      '/proc/net/tcp6': `${HEAD}   0: 00000000000000000000000000000000:2810 00000000000000000000000000000000:0000 0A 0:0\n`,
    };
    expect(await readListening(machine({ files }))).to.deep.equal(succeed(new Set([10_249, 10_256])));
  });

  it('tells why it cannot', async () => {
    expect(await readListening(machine({}))).to.deep.equal(fail('/proc/net/tcp: ENOENT'));
  });
});
