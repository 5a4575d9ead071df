import { expect } from 'chai';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { ruleLockWarning } from './rule-lock.ts';

const OVERLAY = '700 600 0:50 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/l,upperdir=/u';
const SHARED = '712 700 0:26 /xtables.lock /run/xtables.lock rw,nosuid shared:5 - tmpfs tmpfs rw,size=800k';
const RUN = '30 25 0:26 / /run rw,nosuid,nodev shared:5 - tmpfs tmpfs rw,size=800k';
const LEGACY = 'iptables v1.8.9 (legacy)\n';

describe('apply/rule-lock', () => {
  const cases = [
    { name: 'warns in a container without the file of the node', mounts: [OVERLAY], version: LEGACY, warns: true },
    {
      name: 'warns also of an iptables that knows no other kind',
      mounts: [OVERLAY],
      version: 'iptables v1.6.1\n',
      warns: true,
    },
    { name: 'is content in a container that has it', mounts: [OVERLAY, SHARED], version: LEGACY, warns: false },
    { name: 'is content on a host whose root is an overlay', mounts: [OVERLAY, RUN], version: LEGACY, warns: false },
    {
      name: 'is content with an iptables that takes no lock',
      mounts: [OVERLAY],
      version: 'iptables v1.8.9 (nf_tables)\n',
      warns: false,
    },
    { name: 'says nothing where the mounts are not known', mounts: undefined, version: LEGACY, warns: false },
  ];
  for (const { name, mounts, version, warns } of cases) {
    it(name, async () => {
      const host = memoryKernel({});
      host.runTool = async () => ({ ok: true, value: { stdout: version, stderr: '' } });
      if (mounts) host.files.set('/proc/self/mountinfo', `${mounts.join('\n')}\n`);
      const warning = await ruleLockWarning(host);
      if (warns) expect(warning).to.include('/run/xtables.lock is not the node');
      else expect(warning).to.equal(undefined);
    });
  }
});
