import type { ConntrackLimits } from '../kernel/sysctl/conntrack.ts';
import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import { type IpvsChoices, wantedSysctls } from '../kernel/sysctl/wanted.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import { conntrackWarnings } from './conntrack.ts';
import type { Host } from './host.ts';
import { prepareConntrack } from './prepare-conntrack.ts';
import { describeToolError, type Tool, type ToolError, type ToolOutput } from './tool.ts';
import { writeSysctl } from './write-setting.ts';

/** What the node can do. */
export interface NodeAbilities {
  /** Families that it has tools and a kernel for; never empty. */
  readonly families: readonly Family[];
  /** Whether its iptables knows `--random-fully` (1.6.2 and later). */
  readonly randomFully: boolean;
  /** `uname -r` */
  readonly kernelRelease: string;
}

/** What the kernel is asked for before the first pass. */
export interface NodeSettings {
  readonly strictArp: boolean;
  readonly timeouts: IpvsTimeouts;
  readonly choices: IpvsChoices;
  readonly conntrack: ConntrackLimits;
}

/** Idle times of connections; less than a second leaves one as it is. */
export interface IpvsTimeouts {
  readonly tcpTimeoutMs: number;
  readonly tcpFinTimeoutMs: number;
  readonly udpTimeoutMs: number;
}

/** What stands in the way of running on this node, a line each for a person. */
export type NodeTroubles = readonly string[];

/** Looks for the tools and the families, changing nothing. Every tool that is missing or too old is named at once. */
export async function examineNode(host: Host): Promise<Result<NodeAbilities, NodeTroubles>> {
  const ask = (tool: Tool, args: readonly string[]) => host.runTool({ tool, args, timeoutMs: TIMEOUT_MS });
  const [release, hasIpv6, iptables, ip6tables, ipvsadm, ipset, ip] = await Promise.all([
    host.readText('/proc/sys/kernel/osrelease'),
    host.readText('/proc/net/if_inet6'),
    ask('iptables', ['--version']),
    ask('ip6tables', ['--version']),
    ask('ipvsadm', ['--version']),
    ask('ipset', ['--version']),
    ask('ip', ['-Version']),
  ]);
  const troubles = [ipvsadm, ipset, ip].flatMap((asked) =>
    asked.ok || !isFatal(asked.error) ? [] : [describeToolError(asked.error)],
  );
  troubles.push(...judgeIpset(ipset));
  if (!release.ok) troubles.push(describeToolError(release.error));
  const usable = { IPv4: iptables.ok, IPv6: ip6tables.ok && hasIpv6.ok };
  const families = FAMILIES.filter((family) => usable[family]);
  if (families.length === 0 && !iptables.ok) troubles.push(describeToolError(iptables.error));
  if (troubles.length > 0 || !release.ok) return fail(troubles);
  const version = /v(\d+)\.(\d+)\.(\d+)/.exec(iptables.ok ? iptables.value.stdout : '');
  const [major = 0, minor = 0, patch = 0] = (version ?? []).slice(1).map(Number);
  const randomFully = major > 1 || (major === 1 && (minor > 6 || (minor === 6 && patch >= 2)));
  return succeed({ families, randomFully, kernelRelease: release.value.trim() });
}

/** What was done to the node before the first pass. */
export interface NodePreparation {
  /** Paths are below `/proc/sys/`, or whole. */
  readonly written: readonly Pick<SysctlSetting, 'path' | 'value'>[];
  /** Things that went wrong and do not stand in the way. */
  readonly warnings: readonly string[];
}

/** Loads IPVS and writes the settings that differ from what is wanted. A required setting that cannot be written stops it. */
export async function prepareNode(
  host: Host,
  kernelRelease: string,
  { strictArp, timeouts, choices, conntrack }: NodeSettings,
): Promise<Result<NodePreparation, NodeTroubles>> {
  const warnings: string[] = [];
  const written: NodePreparation['written'][number][] = [];
  const troubles: string[] = [];
  const present = await host.readText('/proc/net/ip_vs');
  if (!present.ok) {
    const loaded = await host.runTool({ tool: 'modprobe', args: ['-va', 'ip_vs'], timeoutMs: TIMEOUT_MS });
    if (!loaded.ok) warnings.push(describeToolError(loaded.error));
    const again = await host.readText('/proc/net/ip_vs');
    if (!again.ok) return fail([`${NO_IPVS}${warnings.map((warning) => `; ${warning}`).join('')}`]);
  }
  for (const setting of wantedSysctls(kernelRelease, strictArp, choices)) {
    const done = await writeSysctl(host, setting);
    if (done === 'written') written.push({ path: setting.path, value: setting.value });
    else if (done !== 'as-wanted') (setting.need === 'required' ? troubles : warnings).push(done.message);
  }
  const tracking = await prepareConntrack(host, conntrack);
  if (!tracking.ok) troubles.push(...tracking.error);
  if (troubles.length > 0 || !tracking.ok) return fail(troubles);
  written.push(...tracking.value.written);
  warnings.push(...tracking.value.warnings);
  warnings.push(...(await setTimeouts(host, timeouts)), ...(await conntrackWarnings(host)));
  return succeed({ written, warnings });
}

/** Where one is asked for; a warning where IPVS does not take them. */
export async function setTimeouts(host: Host, timeouts: IpvsTimeouts): Promise<readonly string[]> {
  const seconds = [timeouts.tcpTimeoutMs, timeouts.tcpFinTimeoutMs, timeouts.udpTimeoutMs].map(
    (ms) => `${Math.floor(ms / 1000)}`,
  );
  if (seconds.every((value) => value === '0')) return [];
  const set = await host.runTool({ tool: 'ipvsadm', args: ['--set', ...seconds], timeoutMs: TIMEOUT_MS });
  return set.ok ? [] : [`IPVS timeouts are as before: ${describeToolError(set.error)}`];
}

const TIMEOUT_MS = 30_000;

const NO_IPVS =
  'the kernel has no IPVS: load the modules ip_vs, ip_vs_rr (and ip_vs_NAME of another scheduler) and nf_conntrack on the host';

/** A tool that is there but does not like the question is good enough. */
function isFatal(error: ToolError): boolean {
  return error.kind !== 'tool-refused';
}

/** Without the rights to ask the kernel it fails, and tells its version all the same: `ipset v7.17: Kernel error …`. */
function judgeIpset(asked: Result<ToolOutput, ToolError>): readonly string[] {
  const refused = !asked.ok && asked.error.kind === 'tool-refused' ? asked.error.stderr : '';
  const [, major = '', minor = ''] = /v(\d+)\.(\d+)/.exec(asked.ok ? asked.value.stdout : refused) ?? [];
  if (major === '') return asked.ok ? [`ipset --version tells no version; ${IPSET_NEEDED}`] : [];
  return Number(major) < 6 ? [`ipset ${major}.${minor} is too old; ${IPSET_NEEDED}`] : [];
}

const IPSET_NEEDED = '6.0 or later is needed';
