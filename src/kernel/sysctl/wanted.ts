import type { SysctlSetting } from './state.ts';

/** Switches of IPVS that an operator may set; `undefined` leaves one as it is. */
export interface IpvsChoices {
  /** Whether connections are taken of which the first packet was not seen. */
  readonly sloppyTCP?: boolean | undefined;
  readonly sloppySCTP?: boolean | undefined;
  /** Whether the kernel estimates rates of every virtual and real server. */
  readonly runEstimation?: boolean | undefined;
  /** What becomes of a new connection from a port in use, 0–3; `undefined` lets the kernel's release decide. */
  readonly connReuseMode?: number | undefined;
}

/**
 * What a node needs for IPVS to work with masquerading and changing endpoints. `conn_reuse_mode` is 0 only on kernels from 4.1 up
 * to 5.8, where 1 drops the first SYN of a reused port; from 5.9 the kernel's own default is right and stays. Distributions bring the
 * mending change to older releases, which no release tells, so an operator has the last word.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go; issues 81775, 93297; Linux Documentation/networking/ipvs-sysctl.rst
 */
export function wantedSysctls(
  kernelRelease: string,
  strictArp: boolean,
  choices: IpvsChoices = {},
): readonly SysctlSetting[] {
  const reuseMode = chooseReuseMode(kernelRelease, choices);
  const vs = (name: string): SysctlSetting => ({ path: `net/ipv4/vs/${name}`, value: '1', need: 'required' });
  return [
    vs('conntrack'),
    ...(reuseMode === undefined ? [] : [optional('conn_reuse_mode', `${reuseMode}`)]),
    vs('expire_nodest_conn'),
    vs('expire_quiescent_template'),
    { path: 'net/ipv4/ip_forward', value: '1', need: 'required' },
    ...(strictArp
      ? ([
          { path: 'net/ipv4/conf/all/arp_ignore', value: '1', need: 'required' },
          { path: 'net/ipv4/conf/all/arp_announce', value: '2', need: 'required' },
        ] as const)
      : []),
    ...switchOf('sloppy_tcp', choices.sloppyTCP),
    ...switchOf('sloppy_sctp', choices.sloppySCTP),
    ...switchOf('run_estimation', choices.runEstimation),
  ];
}

/** The mode to write; `undefined` to leave what the kernel has. */
export function chooseReuseMode(
  kernelRelease: string,
  { connReuseMode }: Pick<IpvsChoices, 'connReuseMode'>,
): number | undefined {
  return connReuseMode ?? (needsReuseModeOff(kernelRelease) ? 0 : undefined);
}

function switchOf(name: string, state: boolean | undefined): readonly SysctlSetting[] {
  return state === undefined ? [] : [optional(name, state ? '1' : '0')];
}

function optional(name: string, value: string): SysctlSetting {
  return { path: `net/ipv4/vs/${name}`, value, need: 'optional' };
}

function needsReuseModeOff(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10));
  return (major === 4 && minor >= 1) || (major === 5 && minor < 9);
}
