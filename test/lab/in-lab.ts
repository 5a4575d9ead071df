import { readFileSync, readlinkSync } from 'node:fs';

export interface Surroundings {
  /** The variable hack/lab.sh sets inside. */
  readonly inLab: string | undefined;
  readonly cpuinfo: string;
  /** As `readlink /proc/self/ns/net` and `…/pid` print them. */
  readonly netNamespace: string;
  readonly pidNamespace: string;
}

/** Every Linux kernel's first PID namespace has this name. */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** Throws unless this process runs inside hack/lab.sh, as what follows changes the network of the kernel it runs in. */
export function requireLab(): void {
  const why = whyNotInLab(readSurroundings());
  if (why === undefined) return;
  throw new Error(`these tests change the machine they run on, and ${why}: run them as hack/lab.sh COMMAND`);
}

/** Why the surroundings are not the lab; undefined when they are. */
export function whyNotInLab({ inLab, cpuinfo, netNamespace, pidNamespace }: Surroundings): string | undefined {
  if (inLab === undefined || inLab === '') return 'this is not the lab (IN_LAB is not set)';
  if (inLab === 'uml') return cpuinfo.includes('User Mode Linux') ? undefined : 'this is not user-mode Linux';
  if (inLab !== netNamespace) return 'this is not the network namespace that hack/lab.sh made';
  return pidNamespace === FIRST_PID_NAMESPACE ? 'this is not a PID namespace of its own' : undefined;
}

function readSurroundings(): Surroundings {
  return {
    inLab: process.env.IN_LAB,
    cpuinfo: readFileSync('/proc/cpuinfo', 'utf8'),
    netNamespace: readlinkSync('/proc/self/ns/net'),
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
  };
}
