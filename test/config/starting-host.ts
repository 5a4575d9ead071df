import type { FollowingHost } from '../../src/apply/host.ts';
import { type MemoryKernel, memoryKernel } from '../kernel/memory-kernel.ts';

/** A machine in memory with all tools, on which the program can start. */
export interface StartingHost extends MemoryKernel, FollowingHost {
  /** Command lines of the tools that were started, in order. */
  readonly commands: () => readonly string[];
}

/** `ipvs`: whether its kernel has IPVS, loads it when asked to, or never has it. */
export function startingHost(ipvs: 'built in' | 'a module' | 'absent' = 'built in'): StartingHost {
  const kernel = memoryKernel({ lo: ['127.0.0.1/8', '::1/128'], eth0: ['192.168.0.10/24', 'fd00:168::10/64'] });
  const { runTool, readText } = kernel;
  kernel.files.set('/proc/sys/kernel/osrelease', '6.1.0\n');
  kernel.files.set('/proc/net/if_inet6', '');
  kernel.files.set('/proc/modules', '');
  kernel.files.set('/sys/devices/system/cpu/online', '0-3\n');
  kernel.files.set('/sys/module/nf_conntrack/parameters/hashsize', '65536\n');
  let isLoaded = ipvs === 'built in';
  return {
    ...kernel,
    runTool: async (call) => {
      const { tool, args } = call;
      if (!kernel.missing.has(tool)) {
        const version = VERSIONS[[tool, ...args].join(' ')];
        const loads = tool === 'modprobe' && ipvs !== 'absent';
        if (loads) isLoaded = true;
        if (version !== undefined || loads) {
          kernel.calls.push(call);
          return { ok: true, value: { stdout: version ?? '', stderr: '' } };
        }
      }
      return runTool(call);
    },
    readText: async (path) =>
      path === '/proc/net/ip_vs' && !isLoaded
        ? { ok: false, error: { kind: 'file-failed', path, code: 'ENOENT' } }
        : readText(path),
    followTool: () => ({ ended: new Promise(() => {}), stop: () => {} }),
    commands: () => kernel.calls.map(({ tool, args }) => [tool, ...args].join(' ')),
  };
}

const VERSIONS: Readonly<Record<string, string>> = {
  'iptables --version': 'iptables v1.8.9 (nf_tables)\n',
  'ip6tables --version': 'ip6tables v1.8.9 (nf_tables)\n',
  'ipvsadm --version': 'ipvsadm v1.31\n',
  'ipset --version': 'ipset v7.17\n',
  'ip -Version': 'ip utility\n',
  'conntrack --version': 'conntrack v1.4.7\n',
};
