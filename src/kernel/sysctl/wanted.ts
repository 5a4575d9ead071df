import type { SysctlSetting } from './state.ts';

/** Whether IPVS takes connections of which it has not seen the first packet; `undefined` leaves it as it is. */
export interface SloppyConnections {
  readonly sloppyTCP: boolean | undefined;
  readonly sloppySCTP: boolean | undefined;
}

/**
 * What a node needs for IPVS to work with masquerading and changing endpoints. `conn_reuse_mode` is 0 only on kernels from 4.1 up
 * to 5.8, where 1 drops the first SYN of a reused port; from 5.9 the kernel's own default is right and stays.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go; issues 81775, 93297; Linux Documentation/networking/ipvs-sysctl.rst
 */
export function wantedSysctls(
  kernelRelease: string,
  strictArp: boolean,
  sloppy: SloppyConnections = AS_IT_IS,
): readonly SysctlSetting[] {
  const vs = (name: string): SysctlSetting => ({ path: `net/ipv4/vs/${name}`, value: '1', need: 'required' });
  return [
    vs('conntrack'),
    ...(needsReuseModeOff(kernelRelease)
      ? [{ path: 'net/ipv4/vs/conn_reuse_mode', value: '0', need: 'optional' } as const]
      : []),
    vs('expire_nodest_conn'),
    vs('expire_quiescent_template'),
    { path: 'net/ipv4/ip_forward', value: '1', need: 'required' },
    ...(strictArp
      ? ([
          { path: 'net/ipv4/conf/all/arp_ignore', value: '1', need: 'required' },
          { path: 'net/ipv4/conf/all/arp_announce', value: '2', need: 'required' },
        ] as const)
      : []),
    ...switchOf('sloppy_tcp', sloppy.sloppyTCP),
    ...switchOf('sloppy_sctp', sloppy.sloppySCTP),
  ];
}

const AS_IT_IS: SloppyConnections = { sloppyTCP: undefined, sloppySCTP: undefined };

function switchOf(name: string, state: boolean | undefined): readonly SysctlSetting[] {
  if (state === undefined) return [];
  return [{ path: `net/ipv4/vs/${name}`, value: state ? '1' : '0', need: 'optional' }];
}

function needsReuseModeOff(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10));
  return (major === 4 && minor >= 1) || (major === 5 && minor < 9);
}
