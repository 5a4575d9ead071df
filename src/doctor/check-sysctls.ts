import { CONNTRACK_MAX } from '../kernel/sysctl/conntrack.ts';
import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import type { NodeFacts, SysctlLine, Wishes } from './facts.ts';
import { type Checked, type Finding, found, NOTHING_FOUND, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'sysctls' | 'sysctlLines' | 'ipvs' | 'proxier'>;

/** Settings that the daemon writes: whether they have its values, and who would set them back. */
export function checkSysctls(facts: Facts, { sysctls }: Pick<Wishes, 'sysctls'>): Checked {
  const wanted = sysctls.filter(({ path }) => !path.startsWith('/'));
  const { sysctlLines } = facts;
  return together([
    ...wanted.map((setting) => checkPresence(facts, setting)),
    found(...judgeValues(facts, wanted)),
    sysctlLines.ok
      ? found(...wanted.flatMap((setting) => judgeLines(sysctlLines.value, setting)))
      : notChecked('files of sysctl.d', sysctlLines.error),
  ]);
}

function checkPresence(facts: Facts, { path, need }: SysctlSetting): Checked {
  const name = nameOf(path);
  if (!facts.sysctls.has(path)) return notChecked(name, 'it cannot be read');
  if (facts.sysctls.get(path) !== undefined || need === 'optional' || isLater(facts, path)) return NOTHING_FOUND;
  return found({
    level: 'error',
    id: 'sysctl-missing',
    saw: `the kernel has no ${name}`,
    matters: 'the daemon needs it and does not start',
    remedy: 'a kernel with IPVS and connection tracking (CONFIG_IP_VS_NFCT); modprobe ip_vs nf_conntrack',
  });
}

function judgeValues({ sysctls, proxier }: Facts, wanted: readonly SysctlSetting[]): readonly Finding[] {
  const others = wanted.filter(({ path, value }) => (sysctls.get(path) ?? value) !== value);
  if (others.length === 0) return [];
  const saw = others.map(({ path }) => `${nameOf(path)} is ${sysctls.get(path)}`).join(', ');
  const remedy = remedyOf(others, sysctls);
  const isRunning = proxier.ok && proxier.value?.command === 'run';
  if (!isRunning) {
    const matters = 'the daemon, or its init container, sets them at the start, which needs the right to';
    return [{ level: 'note', id: 'sysctl-not-yet', saw, matters, remedy }];
  }
  const matters =
    'the daemon runs and wants other values: somebody has set them since, or it has another configuration';
  return [{ level: 'warning', id: 'sysctl-changed', saw, matters, remedy: `find out who sets them; ${remedy}` }];
}

function remedyOf(others: readonly SysctlSetting[], sysctls: Facts['sysctls']): string {
  const present = ({ path, value }: SysctlSetting) => sysctls.get(path) ?? value;
  const set = others.filter((setting) => !wouldLowerLimit(setting, present(setting)));
  const kept = others.filter((setting) => !set.includes(setting));
  return [
    ...(set.length > 0 ? [`sysctl -w ${set.map(({ path, value }) => `${nameOf(path)}=${value}`).join(' ')}`] : []),
    ...kept.map((setting) => keepLimit(setting, present(setting))),
  ].join('; ');
}

/** Connections that are tracked already would be over the limit. */
function wouldLowerLimit({ path, value }: SysctlSetting, present: string): boolean {
  return path === CONNTRACK_MAX && Number(present) > Number(value);
}

function keepLimit({ path, value }: SysctlSetting, present: string): string {
  return `conntrack.min: ${present} in the configuration, or the daemon lowers ${nameOf(path)} to ${value}`;
}

function nameOf(path: string): string {
  return path.replaceAll('/', '.');
}

/** Those of IPVS and of connection tracking come with their modules. */
function isLater({ ipvs }: Facts, path: string): boolean {
  const hasIpvs = !ipvs.ok || ipvs.value !== undefined;
  return !hasIpvs && (path.startsWith('net/ipv4/vs/') || path.startsWith('net/netfilter/'));
}

/** Of several lines for one setting the last one counts. */
function judgeLines(lines: readonly SysctlLine[], { path, value, need }: SysctlSetting): readonly Finding[] {
  const last = lines.findLast((line) => line.path === path);
  if (!last || last.value === value) return [];
  const name = nameOf(path);
  return [
    {
      level: 'warning',
      id: 'sysctl-file',
      saw: `${last.file}:${last.line} sets ${name} to ${last.value}`,
      matters: `the daemon sets it to ${value}; whoever applies the files again, as packages do, undoes that`,
      remedy: wouldLowerLimit({ path, value, need }, last.value)
        ? keepLimit({ path, value, need }, last.value)
        : `change the line to ${name} = ${value}, or set the daemon's own setting to what you want`,
    },
  ];
}
