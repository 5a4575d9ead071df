import { expect } from 'chai';
import { fail } from '../model/result.ts';
import { machine } from './files-fixture.ts';
import { readSysctlLines } from './read-sysctl-lines.ts';

describe('apply/read-sysctl-lines', () => {
  it('reads files by name, of two with one name the first, and sysctl.conf last', async () => {
    const host = machine({
      files: {
        '/usr/lib/sysctl.d/50-a.conf': 'net.ipv4.ip_forward = 0\n',
        '/usr/lib/sysctl.d/10-b.conf': '# a remark\n\n-net/ipv4/conf/all/rp_filter=2\nkernel.x = 1 2\n',
        '/etc/sysctl.d/50-a.conf': 'net.ipv4.ip_forward = 1\n',
        '/etc/sysctl.d/README': 'net.ipv4.ip_forward = 7\n',
        '/etc/sysctl.conf': '; another\nnet.ipv4.ip_forward=0',
      },
    });
    const read = await readSysctlLines(host);
    expect(
      read.ok && read.value.map(({ file, line, path, value }) => `${file}:${line} ${path} ${value}`),
    ).to.deep.equal([
      '/usr/lib/sysctl.d/10-b.conf:3 net/ipv4/conf/all/rp_filter 2',
      '/usr/lib/sysctl.d/10-b.conf:4 kernel/x 1 2',
      '/etc/sysctl.d/50-a.conf:1 net/ipv4/ip_forward 1',
      '/etc/sysctl.conf:2 net/ipv4/ip_forward 0',
    ]);
  });

  it('tells where there are none, as in a container', async () => {
    expect(await readSysctlLines(machine({}))).to.deep.equal(
      fail('there are none here; in a container those of the host are not seen'),
    );
  });
});
