import { expect } from 'chai';
import { conntrackLimits } from '../../../test/builders/conntrack-limits.ts';
import { type ConntrackLimits, conntrackMax, wantedConntrack } from './conntrack.ts';
import { renderSysctls } from './render.ts';

const NOTHING: ConntrackLimits = conntrackLimits();

describe('kernel/sysctl/conntrack', () => {
  const limits: readonly (readonly [name: string, maxPerCore: number, min: number, cpus: number, max: number])[] = [
    ['the least where the CPUs are few', 32_768, 131_072, 2, 131_072],
    ['the least where both are the same', 32_768, 131_072, 4, 131_072],
    ['so many for each CPU where that is more', 32_768, 131_072, 64, 2_097_152],
    ['so many for each CPU without a least', 1_000, 0, 3, 3_000],
    ['no limit of ours without a number for each CPU, whatever the least is', 0, 131_072, 64, 0],
  ];
  for (const [name, maxPerCore, min, cpus, max] of limits) {
    it(`is ${name}`, () => {
      expect(conntrackMax({ ...NOTHING, maxPerCore, min }, cpus)).to.equal(max);
      const written = wantedConntrack({ ...NOTHING, maxPerCore, min }, cpus);
      expect(written.map(({ path, value }) => `${path} ${value}`)).to.deep.equal(
        max === 0 ? [] : [`net/netfilter/nf_conntrack_max ${max}`],
      );
    });
  }

  it('leaves everything alone where nothing is asked for', () => expect(wantedConntrack(NOTHING, 8)).to.deep.equal([]));

  it('writes timeouts in whole seconds, and the switch only when it is on', () => {
    const wanted = wantedConntrack(
      {
        ...NOTHING,
        tcpEstablishedTimeoutMs: 86_400_000,
        tcpCloseWaitTimeoutMs: 1_999,
        tcpBeLiberal: true,
        udpTimeoutMs: 999,
        udpStreamTimeoutMs: 180_000,
      },
      1,
    );
    expect(renderSysctls(wanted)).to.equal(
      `net.netfilter.nf_conntrack_tcp_timeout_established=86400
net.netfilter.nf_conntrack_tcp_timeout_close_wait=1
net.netfilter.nf_conntrack_tcp_be_liberal=1
net.netfilter.nf_conntrack_udp_timeout=0
net.netfilter.nf_conntrack_udp_timeout_stream=180
`,
    );
    expect(wanted.every(({ need }) => need === 'required')).to.equal(true);
  });
});
