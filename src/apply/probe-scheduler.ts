import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import { isProbe, PROBE, PROBE_KEY } from '../kernel/ipvs/probe.ts';
import { renderIpvsSteps } from '../kernel/ipvs/render.ts';
import type { VirtualServer } from '../kernel/ipvs/state.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import type { NodeTroubles } from './prepare-node.ts';
import { readIpvs } from './read-ipvs.ts';
import { describeReadError } from './read-kernel.ts';
import { describeToolError, type ToolError } from './tool.ts';

/** A scheduler, and the flags of its virtual servers as `ipvsadm` prints them. */
export interface SchedulerChoice {
  readonly scheduler: string;
  readonly schedulerFlags: readonly string[];
}

export interface WantedScheduler extends SchedulerChoice {
  /** What is done where the kernel lacks it: that is a trouble, or `rr` is taken without flags. */
  readonly ifUnknown: 'stop' | 'round-robin';
}

export interface ProbedScheduler {
  /** The one that is wanted, or `rr` without flags. */
  readonly chosen: SchedulerChoice;
  /** Why it is not the one that is wanted, for a person. */
  readonly warning: string | undefined;
}

/**
 * Finds out whether the kernel has a scheduler: gives it a virtual server without real servers at an address of no network, TCP
 * 198.51.100.0:20000, looks at it, and takes it away. One that a killed process left there is removed first. Nothing is tried where a
 * virtual server uses the scheduler already, or somebody else's stands at that address. IPv4 serves for nodes with IPv6 only, as families
 * share schedulers. Troubles: IPVS cannot be read or changed, the kernel lacks the scheduler, or there is not even `rr` in its place.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/supported.go
 */
export async function probeScheduler(
  host: Host,
  { ifUnknown, ...wanted }: WantedScheduler,
): Promise<Result<ProbedScheduler, NodeTroubles>> {
  const read = await readIpvs(host);
  if (!read.ok) return fail([describeReadError(read.error)]);
  const servers = new Map(read.value.state);
  const probe = servers.get(PROBE_KEY);
  if (probe && isProbe(probe)) {
    const removed = await runStep(host, { kind: 'delete-virtual-server', server: probe });
    if (!removed.ok) return fail([describeToolError(removed.error)]);
    servers.delete(PROBE_KEY);
  }
  const asWanted = succeed({ chosen: wanted, warning: undefined });
  const isUsed = [...servers.values()].some(({ scheduler }) => scheduler === wanted.scheduler);
  if (isUsed || servers.has(PROBE_KEY)) return asWanted;
  const tried = await tryScheduler(host, wanted);
  if (tried.ok) return asWanted;
  if (!tried.error.isLack) return fail([tried.error.message]);
  if (ifUnknown === 'stop') return fail([describeLack(wanted.scheduler, tried.error.message)]);
  const fallback = await tryScheduler(host, FALLBACK);
  if (!fallback.ok) return fail([`not even scheduler rr can be used: ${fallback.error.message}`]);
  return succeed({ chosen: FALLBACK, warning: describeReplaced(wanted.scheduler, tried.error.message) });
}

const FALLBACK: SchedulerChoice = { scheduler: 'rr', schedulerFlags: [] };

const TIMEOUT_MS = 30_000;

interface Refusal {
  /** It is the scheduler, or its flags, that the node does not know. */
  readonly isLack: boolean;
  readonly message: string;
}

async function tryScheduler(host: Host, choice: SchedulerChoice): Promise<Result<void, Refusal>> {
  // It may be built in, or loaded by the kernel itself when it is used: only what comes of it counts.
  await host.runTool({ tool: 'modprobe', args: ['-va', moduleOf(choice.scheduler)], timeoutMs: TIMEOUT_MS });
  const server = probeWith(choice);
  const added = await runStep(host, { kind: 'add-virtual-server', server });
  if (!added.ok) return fail({ isLack: isLack(added.error), message: describeToolError(added.error) });
  const read = await readIpvs(host);
  const removed = await runStep(host, { kind: 'delete-virtual-server', server });
  if (!read.ok) return fail({ isLack: false, message: describeReadError(read.error) });
  if (!removed.ok) return fail({ isLack: false, message: describeToolError(removed.error) });
  const found = nameOf(read.value.state.get(PROBE_KEY));
  if (found === nameOf(server)) return succeed(undefined);
  return fail({ isLack: true, message: `it reads back as ${found}, not as ${nameOf(server)}` });
}

function runStep(host: Host, step: IpvsStep) {
  return host.runTool({ tool: 'ipvsadm', args: ['-R'], input: renderIpvsSteps([step]), timeoutMs: TIMEOUT_MS });
}

/** The kernel: `Scheduler or persistence engine not found`. The tool, if it is too old: `invalid scheduler flag`. */
function isLack(error: ToolError): boolean {
  return error.kind === 'tool-refused' && /scheduler/i.test(error.stderr);
}

function describeLack(scheduler: string, why: string): string {
  const otherwise = scheduler === FALLBACK.scheduler ? '' : ', or set unknownScheduler to round-robin';
  return `scheduler ${scheduler} cannot be used: ${why}; ${remedy(scheduler)}${otherwise}`;
}

function describeReplaced(scheduler: string, why: string): string {
  return `scheduler ${scheduler} cannot be used, so rr is used without flags: ${why}; ${remedy(scheduler)}`;
}

function remedy(scheduler: string): string {
  return `load module ${moduleOf(scheduler)} on the host, or set ipvs.scheduler to one that its kernel has`;
}

function moduleOf(scheduler: string): string {
  return `ip_vs_${scheduler}`;
}

/** `mh (mh-fallback,mh-port)` */
function nameOf(server: VirtualServer | undefined): string {
  if (!server) return 'nothing';
  const flags = server.schedulerFlags?.join(',') ?? '';
  return flags === '' ? server.scheduler : `${server.scheduler} (${flags})`;
}

function probeWith(choice: SchedulerChoice): VirtualServer {
  return { ...PROBE, ...choice, persistenceSeconds: 0, realServers: [] };
}
