import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import type { NodeFacts, SysctlLine, Wishes } from './facts.ts';
import { type Checked, type Finding, found, NOTHING_FOUND, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'sysctls' | 'sysctlLines' | 'ipvs' | 'proxier'>;

/** Settings that the daemon writes: whether they have its values, and who would set them back. */
export function checkSysctls(facts: Facts, { sysctls }: Pick<Wishes, 'sysctls'>): Checked {
  const wanted = sysctls.filter(({ path }) => !path.startsWith('/'));
  const { sysctlLines } = facts;
  return together([
    ...wanted.map((setting) => checkSetting(facts, setting)),
    sysctlLines.ok
      ? found(...wanted.flatMap((setting) => judgeLines(sysctlLines.value, setting)))
      : notChecked('files of sysctl.d', sysctlLines.error),
  ]);
}

function checkSetting(facts: Facts, { path, value, need }: SysctlSetting): Checked {
  const name = path.replaceAll('/', '.');
  if (!facts.sysctls.has(path)) return notChecked(name, 'it cannot be read');
  const current = facts.sysctls.get(path);
  if (current === undefined) return need === 'optional' || isLater(facts, path) ? NOTHING_FOUND : missing(name);
  if (current === value) return NOTHING_FOUND;
  const saw = `${name} is ${current}`;
  const remedy = `sysctl -w ${name}=${value}`;
  const isRunning = facts.proxier.ok && facts.proxier.value?.command === 'run';
  if (!isRunning) {
    const matters = `the daemon sets it to ${value} at its start, which a Pod without privileges cannot`;
    return found({ level: 'note', id: 'sysctl-not-yet', saw, matters, remedy });
  }
  const matters = `the daemon runs and wants ${value}: somebody has set it since, or it runs with another configuration`;
  return found({ level: 'warning', id: 'sysctl-changed', saw, matters, remedy: `find out who sets it; ${remedy}` });
}

/** Those of IPVS and of connection tracking come with their modules. */
function isLater({ ipvs }: Facts, path: string): boolean {
  const hasIpvs = !ipvs.ok || ipvs.value !== undefined;
  return !hasIpvs && (path.startsWith('net/ipv4/vs/') || path.startsWith('net/netfilter/'));
}

function missing(name: string): Checked {
  return found({
    level: 'error',
    id: 'sysctl-missing',
    saw: `the kernel has no ${name}`,
    matters: 'the daemon needs it and does not start',
    remedy: 'a kernel with IPVS and connection tracking (CONFIG_IP_VS_NFCT); modprobe ip_vs nf_conntrack',
  });
}

/** Of several lines for one setting the last one counts. */
function judgeLines(lines: readonly SysctlLine[], { path, value }: SysctlSetting): readonly Finding[] {
  const last = lines.findLast((line) => line.path === path);
  if (!last || last.value === value) return [];
  const name = path.replaceAll('/', '.');
  return [
    {
      level: 'warning',
      id: 'sysctl-file',
      saw: `${last.file}:${last.line} sets ${name} to ${last.value}`,
      matters: `the daemon sets it to ${value}; whoever applies the files again, as packages do, undoes that`,
      remedy: `change the line to ${name} = ${value}, or set the daemon's own setting to what you want`,
    },
  ];
}
