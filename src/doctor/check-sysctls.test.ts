import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { checkSysctls } from './check-sysctls.ts';
import type { SysctlLine } from './facts.ts';
import { HEALTHY, inShort, WISHES, withSettings } from './facts-fixture.ts';

describe('doctor/check-sysctls', () => {
  const off = withSettings({ 'net/ipv4/vs/conntrack': '0', 'net/ipv4/ip_forward': '0' });
  const running = succeed({ command: 'run', version: '1.2.3', pid: 7 });

  it('finds nothing where all are as wanted', () => expect(inShort(checkSysctls(HEALTHY, WISHES))).to.deep.equal([]));

  it('notes what the daemon is to set, all together', () => {
    const { findings } = checkSysctls(off, WISHES);
    expect(findings.map(({ level, id, remedy }) => [level, id, remedy])).to.deep.equal([
      ['note', 'sysctl-not-yet', 'sysctl -w net.ipv4.vs.conntrack=1 net.ipv4.ip_forward=1'],
    ]);
  });

  describe('of the limit of tracked connections', () => {
    const sysctls = [
      ...WISHES.sysctls,
      { path: 'net/netfilter/nf_conntrack_max', value: '131072', need: 'required' },
    ] as const;
    const judge = (present: string, more: Readonly<Record<string, string>> = {}, lines: readonly SysctlLine[] = []) => {
      const facts = withSettings({ 'net/netfilter/nf_conntrack_max': present, ...more });
      return checkSysctls({ ...facts, sysctlLines: succeed(lines) }, { sysctls }).findings.map(({ id, remedy }) => [
        id,
        remedy,
      ]);
    };
    const kept =
      'conntrack.min: 262144 in the configuration, or the daemon lowers net.netfilter.nf_conntrack_max to 131072';

    it('never advises to lower it, and tells how the daemon leaves it', () => {
      expect(judge('262144')).to.deep.equal([['sysctl-not-yet', kept]]);
      expect(judge('262144', { 'net/ipv4/ip_forward': '0' })).to.deep.equal([
        ['sysctl-not-yet', `sysctl -w net.ipv4.ip_forward=1; ${kept}`],
      ]);
    });

    it('advises to raise it', () =>
      expect(judge('65536')).to.deep.equal([['sysctl-not-yet', 'sysctl -w net.netfilter.nf_conntrack_max=131072']]));

    it('advises neither to change a line of a file that makes it higher', () => {
      const line = { file: '/etc/sysctl.conf', line: 3, path: 'net/netfilter/nf_conntrack_max', value: '262144' };
      expect(judge('131072', {}, [line])).to.deep.equal([['sysctl-file', kept]]);
    });
  });

  it('warns where somebody has set them back under a daemon', () => {
    expect(inShort(checkSysctls({ ...off, proxier: running }, WISHES))).to.deep.equal(['warning sysctl-changed']);
  });

  it('names one that the kernel lacks, unless IPVS is not there yet', () => {
    const facts = withSettings({ 'net/ipv4/vs/conntrack': undefined });
    expect(inShort(checkSysctls(facts, WISHES))).to.deep.equal(['error sysctl-missing']);
    expect(inShort(checkSysctls({ ...facts, ipvs: succeed(undefined) }, WISHES))).to.deep.equal([]);
  });

  it('lets one lack that is not needed', () => {
    const sysctls = [{ path: 'net/ipv4/vs/run_estimation', value: '0', need: 'optional' }] as const;
    const facts = withSettings({ 'net/ipv4/vs/run_estimation': undefined });
    expect(inShort(checkSysctls(facts, { sysctls }))).to.deep.equal([]);
  });

  it('says so of one that cannot be read, and of files that are not there', () => {
    const facts = { ...HEALTHY, sysctls: new Map([['net/ipv4/ip_forward', '1']]), sysctlLines: fail('none') };
    expect(inShort(checkSysctls(facts, WISHES))).to.deep.equal([
      'not checked: net.ipv4.vs.conntrack',
      'not checked: files of sysctl.d',
    ]);
  });

  it('names the line that would set one back; of several the last one counts', () => {
    const line = (file: string, value: string) => ({ file, line: 3, path: 'net/ipv4/ip_forward', value });
    const judge = (...values: readonly string[]) =>
      checkSysctls(
        { ...HEALTHY, sysctlLines: succeed(values.map((value, at) => line(`/etc/sysctl.d/${at}.conf`, value))) },
        WISHES,
      );
    expect(judge('1', '0').findings.map(({ id, saw }) => [id, saw])).to.deep.equal([
      ['sysctl-file', '/etc/sysctl.d/1.conf:3 sets net.ipv4.ip_forward to 0'],
    ]);
    expect(inShort(judge('0', '1'))).to.deep.equal([]);
  });
});
