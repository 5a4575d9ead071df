import type { NodeFacts, Wishes } from './facts.ts';
import { type Checked, found, NOTHING_FOUND, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'kernelRelease' | 'ipvs' | 'ipvsModule' | 'schedulerModule' | 'sysctls'>;
type Wanted = Pick<Wishes, 'scheduler' | 'unknownScheduler' | 'connReuseMode'>;

/** The kernel's release, IPVS in it, and the scheduler. */
export function checkKernel(facts: Facts, wanted: Wanted): Checked {
  const hasNone = facts.ipvs.ok && facts.ipvs.value === undefined && facts.ipvsModule.ok && facts.ipvsModule.value;
  return together([
    checkRelease(facts.kernelRelease),
    checkIpvs(facts),
    hasNone === 'missing' ? NOTHING_FOUND : checkScheduler(facts, wanted),
    checkReuse(facts, wanted),
  ]);
}

function checkRelease(release: string): Checked {
  const version = versionOf(release);
  if (!version) return notChecked('the release of the kernel', `${release} is none that is understood`);
  if (!isBefore(version, OLDEST)) return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'kernel-old',
    saw: `kernel ${release}`,
    matters: 'this program, and the Node.js that runs it, are made for 4.18 and later',
    remedy: 'a newer kernel of the distribution',
  });
}

function checkIpvs({ ipvs, ipvsModule, kernelRelease }: Facts): Checked {
  if (!ipvs.ok) return notChecked('IPVS', ipvs.error);
  if (ipvs.value) return NOTHING_FOUND;
  if (ipvsModule.ok && ipvsModule.value === 'missing') {
    return found({
      level: 'error',
      id: 'ipvs-missing',
      saw: `kernel ${kernelRelease} has no IPVS: it is not in use, and there is no module ip_vs`,
      matters: 'nothing can be programmed',
      remedy:
        'install the package with all modules of this kernel, e.g. linux-modules-extra; in a container mount /lib/modules of the host',
    });
  }
  const isKnown = ipvsModule.ok;
  const seen = isKnown ? 'its module can be loaded' : `whether it can be loaded is not known: ${ipvsModule.error}`;
  return found({
    level: isKnown ? 'note' : 'warning',
    id: 'ipvs-not-loaded',
    saw: `IPVS is not in use yet; ${seen}`,
    matters: 'the daemon loads it at its start, which needs the right to load modules',
    remedy: 'modprobe ip_vs; to keep it, a file in /etc/modules-load.d with a line ip_vs',
  });
}

function checkScheduler({ schedulerModule, ipvs }: Facts, { scheduler, unknownScheduler }: Wanted): Checked {
  const servers = ipvs.ok ? ipvs.value?.servers.values() : undefined;
  if (servers?.some((server) => server.scheduler === scheduler)) return NOTHING_FOUND;
  if (!schedulerModule.ok) {
    const trial = 'to try it would change the kernel; the daemon does so at its start';
    return notChecked(`scheduler ${scheduler}`, `${schedulerModule.error}; ${trial}`);
  }
  if (schedulerModule.value !== 'missing') return NOTHING_FOUND;
  const hasOther = scheduler !== 'rr' && unknownScheduler === 'round-robin';
  return found({
    level: hasOther ? 'warning' : 'error',
    id: 'scheduler-missing',
    saw: `scheduler ${scheduler} is not in the kernel, and there is no module ip_vs_${scheduler}`,
    matters: hasOther ? 'the daemon uses rr in its place' : 'the daemon ends at its start',
    remedy: 'set ipvs.scheduler to one that the kernel has, or install the package with all modules of this kernel',
  });
}

/** Two faults of one switch: which value is right depends on the release. */
function checkReuse({ kernelRelease, sysctls }: Facts, { connReuseMode }: Wanted): Checked {
  const version = versionOf(kernelRelease);
  if (!version || isBefore(version, [4, 1])) return NOTHING_FOUND;
  if (isBefore(version, [5, 9])) {
    return found({
      level: connReuseMode === undefined ? 'warning' : 'note',
      id: 'reused-ports',
      saw: `kernel ${kernelRelease} has IPVS from before 5.9`,
      matters:
        'with net.ipv4.vs.conn_reuse_mode 1 a new connection from a reused port waits for a second; with 0, which the daemon writes, it may go to a real server that is draining',
      remedy: 'kernel 5.9 or later; or connReuseMode: 1 where the distribution has mended it',
    });
  }
  if (sysctls.get(REUSE_MODE) !== '0' || connReuseMode !== undefined) return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'reuse-mode-off',
    saw: `net.ipv4.vs.conn_reuse_mode is 0 on kernel ${kernelRelease}`,
    matters:
      'a new connection from a reused port goes where the one before went, to a real server that is draining too',
    remedy: 'sysctl -w net.ipv4.vs.conn_reuse_mode=1, and take it out of the files that set it to 0',
  });
}

/** Where the switch stands, below `/proc/sys/`. */
export const REUSE_MODE = 'net/ipv4/vs/conn_reuse_mode';

type Version = readonly [major: number, minor: number];

const OLDEST: Version = [4, 18];

function versionOf(release: string): Version | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

function isBefore([major, minor]: Version, [otherMajor, otherMinor]: Version): boolean {
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
