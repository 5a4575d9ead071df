import { expect } from 'chai';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { wantedSysctls } from '../kernel/sysctl/wanted.ts';
import { differingSettings } from './differing-settings.ts';

describe('apply/differing-settings', () => {
  it('gives what differs with what it is, passes over what cannot be read, and writes nothing', async () => {
    const kernel = memoryKernel({});
    kernel.files
      .set('/proc/sys/net/ipv4/vs/conntrack', '0\n')
      .set('/proc/sys/net/ipv4/ip_forward', '1\n')
      .set('/proc/sys/net/ipv4/conf/all/arp_announce', '0\n');
    const before = new Map(kernel.files);
    expect(await differingSettings(kernel, wantedSysctls('6.1.0', true))).to.deep.equal([
      { path: 'net/ipv4/vs/conntrack', value: '1', need: 'required', present: '0' },
      { path: 'net/ipv4/conf/all/arp_announce', value: '2', need: 'required', present: '0' },
    ]);
    expect(kernel.files).to.deep.equal(before);
  });
});
