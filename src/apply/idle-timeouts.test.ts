import { expect } from 'chai';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { type IdleTimeouts, judgeIdleTimeouts, readIdleTimeouts } from './idle-timeouts.ts';

describe('apply/idle-timeouts', () => {
  const found: IdleTimeouts = {
    ipvs: { tcp: 7200, tcpFin: 120, udp: 300 },
    trackedUdp: 30,
    trackedUdpStream: 120,
    trackedTcp: 3600,
    tcpKeepAlive: 7200,
  };
  const nothing = { tcpTimeoutMs: 0, udpTimeoutMs: 0 };

  it('reads what the kernel tells, and leaves out what it does not', async () => {
    const host = memoryKernel({});
    host.files.set('/proc/sys/net/ipv4/tcp_keepalive_time', '7200\n');
    expect(await readIdleTimeouts(host)).to.deep.equal({
      ipvs: { tcp: 900, tcpFin: 120, udp: 300 },
      trackedUdp: undefined,
      trackedUdpStream: undefined,
      trackedTcp: undefined,
      tcpKeepAlive: 7200,
    });
  });

  it('says nothing where no timeout is asked for and TCP is kept alive in time', () =>
    expect(judgeIdleTimeouts(found, nothing)).to.deep.equal([]));

  it('warns where TCP is kept alive too late, asked for or not', () =>
    expect(judgeIdleTimeouts({ ...found, ipvs: { ...found.ipvs, tcp: 7199 } }, nothing)).to.have.lengthOf(1));

  it('warns where connection tracking is shorter than what is asked for', () => {
    const warnings = judgeIdleTimeouts(found, { tcpTimeoutMs: 7_200_000, udpTimeoutMs: 300_000 });
    expect(warnings.map((line) => line.split(',')[0])).to.deep.equal([
      'idle TCP connections end after 3600 s',
      'UDP flows without a reply end after 30 s',
      'UDP flows end after 120 s',
    ]);
  });

  it('is content where connection tracking is as long', () =>
    expect(
      judgeIdleTimeouts({ ...found, trackedUdp: 300, trackedUdpStream: 300 }, { ...nothing, udpTimeoutMs: 300_000 }),
    ).to.deep.equal([]));
});
