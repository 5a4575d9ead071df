import type { Touched } from '../desired/touched.ts';
import type { FlowTargets } from '../kernel/conntrack/state.ts';
import { parseAddressShow } from '../kernel/dummy/parse.ts';
import { renderDummySteps } from '../kernel/dummy/render.ts';
import { parseIpsetSave } from '../kernel/ipset/parse.ts';
import { type IpvsState, ipvsOfFamily, type VirtualServer, type VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import { clearStaleFlows } from './conntrack.ts';
import type { Host } from './host.ts';
import { type Known, ownedBy, takeOver } from './known-state.ts';
import { parseOnce } from './parse-once.ts';
import { type Peek, peekKernel } from './peek.ts';
import { type IpvsReading, readIpvs } from './read-ipvs.ts';
import { describeReadError, observedOf, type ReadError, readKernel } from './read-kernel.ts';
import { readServers } from './read-servers.ts';
import { describeToolError, type ToolCall, type ToolError } from './tool.ts';

/** Which tool reads a script on its standard input. */
type ScriptTool = 'ipvs' | 'ipset' | 'address' | 'iptables' | 'ip6tables';

interface GivenScript {
  readonly tool: ScriptTool;
  readonly text: string;
  readonly goesOn?: true;
}

interface KernelFailure {
  readonly refusedBy?: 'ipvs' | 'address' | 'ipset';
  readonly part?: number;
  readonly line?: number;
  readonly during: string;
  readonly message: string;
}

interface FinishedScript<T = ScriptTool> {
  readonly tool: T;
  readonly lines: number;
  readonly tookMs: number;
}

interface FlowsCleared {
  readonly flows: number;
  readonly more: boolean;
  readonly runs: readonly FinishedScript<'conntrack'>[];
}

/**
 * The kernel of one machine: reads it, runs scripts against it, and remembers in between what each family holds, so that only full passes
 * have to ask. After a failure nothing of the family is taken as known. Families may be worked on side by side.
 */
export class Kernel {
  readonly #host: Host;
  readonly #families: readonly Family[];
  readonly #nowMs: () => number;
  readonly #known = new Map<Family, Known>();
  readonly #parsers = { sets: parseOnce(parseIpsetSave), interfaces: parseOnce(parseAddressShow) };
  /** As it was read last; what has become of the virtual servers since is in {@link #known}. */
  #ipvs: IpvsReading | undefined;

  constructor(host: Host, families: readonly Family[], nowMs: () => number) {
    this.#host = host;
    this.#families = families;
    this.#nowMs = nowMs;
  }

  async refresh(families = this.#families): Promise<Result<InterfaceAddresses, KernelFailure>> {
    const readings = await readKernel(this.#host, families, this.#knownIpvs(), this.#parsers);
    if (!readings.ok) {
      for (const family of families) this.#known.set(family, readings);
      return fail(unreadable(readings.error));
    }
    this.#ipvs = readings.value.ipvs;
    for (const family of families) {
      const observed = observedOf(readings.value, family);
      this.#known.set(family, observed.ok ? { ok: true, value: ownedBy(observed.value) } : observed);
    }
    return succeed(readings.value.interfaces);
  }

  known(family: Family): Result<ObservedState, KernelFailure> {
    const known = this.#known.get(family);
    if (!known) return fail({ during: READING, message: `what the kernel holds of ${family} is not known` });
    return known.ok ? known : fail(unreadable(known.error));
  }

  async readServers(family: Family): Promise<Result<IpvsState, KernelFailure>> {
    const read = await readIpvs(this.#host);
    return read.ok ? succeed(ipvsOfFamily(read.value.state, family)) : fail(unreadable(read.error));
  }

  async createInterface(): Promise<Result<void, KernelFailure>> {
    const created = await this.run(this.#families, [{ tool: 'address', text: renderDummySteps(CREATE) }]);
    if (!created.ok) return created;
    for (const known of this.#known.values()) if (known.ok) known.value.dummy.exists = true;
    return succeed(undefined);
  }

  async countConnections(family: Family, servers: Iterable<VirtualServerKey>): Promise<Result<void, KernelFailure>> {
    const known = this.#known.get(family);
    if (!known?.ok) return succeed(undefined);
    const asked = [...servers].flatMap((key) => known.value.ipvs.get(key) ?? []);
    const counted = await readServers(this.#host, asked, known.value.ipvs.size);
    if (!counted.ok) {
      this.#known.delete(family);
      return fail(unreadable(counted.error));
    }
    for (const [key, server] of counted.value) known.value.ipvs.set(key, server);
    return succeed(undefined);
  }

  async peek(family: Family, server: VirtualServer | undefined): Promise<Result<Peek, KernelFailure>> {
    const seen = await peekKernel(this.#host, family, server);
    return seen.ok ? seen : fail({ during: 'looking at the kernel', message: describeReadError(seen.error) });
  }

  async run(
    families: readonly Family[],
    scripts: readonly GivenScript[],
  ): Promise<Result<readonly FinishedScript[], KernelFailure>> {
    const finished: FinishedScript[] = [];
    for (const [part, { tool, text, goesOn }] of scripts.entries()) {
      const startedMs = this.#nowMs();
      const lines = linesOf(text);
      const output = await this.#host.runTool(goesOn ? goingOn(text) : scriptCall(tool, text));
      if (!output.ok) {
        for (const family of families) this.#known.delete(family);
        return fail({
          during: `programming ${tool}`,
          message: describeToolError(output.error),
          ...refusalOf(tool, output.error),
          part,
        });
      }
      finished.push({ tool, lines, tookMs: this.#nowMs() - startedMs });
    }
    return succeed(finished);
  }

  settle(after: ObservedState, scope: Touched | 'everything'): void {
    const known = this.#known.get(after.family);
    if (!known?.ok) return;
    if (scope === 'everything') this.#known.set(after.family, { ok: true, value: ownedBy(after, known.value) });
    else takeOver(known.value, after, scope);
  }

  async clearStaleFlows(family: Family, targets: FlowTargets): Promise<Result<FlowsCleared, KernelFailure>> {
    const startedMs = this.#nowMs();
    const cleared = await clearStaleFlows(this.#host, family, targets, this.#nowMs);
    if (!cleared.ok) return fail({ during: 'ending stale UDP flows', message: describeReadError(cleared.error) });
    const { flows, deletions, more } = cleared.value;
    const run = { tool: 'conntrack', lines: deletions, tookMs: this.#nowMs() - startedMs } as const;
    return succeed({ flows, more, runs: deletions > 0 ? [run] : [] });
  }

  /** What the next reading need not learn anew; `undefined` when a family is not known. */
  #knownIpvs(): IpvsReading | undefined {
    const servers = new Map<VirtualServerKey, VirtualServer>();
    for (const family of this.#families) {
      const known = this.#known.get(family);
      if (!known?.ok) return undefined;
      for (const [key, server] of known.value.ipvs) servers.set(key, server);
    }
    return { ticksPerSecond: undefined, ...this.#ipvs, state: servers };
  }
}

const CREATE = [{ kind: 'create-interface' }] as const;

const READING = 'reading the kernel';

/** Every tool reads its script from standard input; restores of rules leave the chains of others alone and wait for their lock. */
const CALLS: Readonly<Record<ScriptTool, Pick<ToolCall, 'tool' | 'args'>>> = {
  ipvs: { tool: 'ipvsadm', args: ['-R'] },
  ipset: { tool: 'ipset', args: ['-exist', 'restore'] },
  address: { tool: 'ip', args: ['-force', '-batch', '-'] },
  iptables: { tool: 'iptables-restore', args: ['-w', '5', '--noflush'] },
  ip6tables: { tool: 'ip6tables-restore', args: ['-w', '5', '--noflush'] },
};

/** The start of a tool that runs a script. */
export function scriptCall(tool: ScriptTool, text: string): ToolCall {
  return { ...CALLS[tool], input: text, timeoutMs: timeoutFor(linesOf(text)) };
}

/** As somebody would type it: each line is a command for itself, and the status is 0 whatever becomes of them. */
function goingOn(text: string): ToolCall {
  return { ...scriptCall('ipset', text), args: ['-exist', '-'] };
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

/**
 * Two tools carry on after a line that the kernel refused; not so `ipvsadm` after one that it cannot read (status 2), and `ipset`. One that
 * was killed, or could not be started, was refused nothing.
 */
function refusalOf(tool: ScriptTool, error: ToolError): Pick<KernelFailure, 'refusedBy' | 'line'> {
  if (error.kind !== 'tool-refused' || error.exitCode < 0 || (tool === 'ipvs' && error.exitCode === 2)) return {};
  if (tool === 'ipvs' || tool === 'address') return { refusedBy: tool };
  const line = tool === 'ipset' ? /Error in line (\d+)/.exec(error.stderr)?.[1] : undefined;
  return line === undefined ? {} : { refusedBy: 'ipset', line: Number(line) };
}

/** A slow machine takes about a millisecond a line; the first use of a tool may load modules. */
function timeoutFor(lines: number): number {
  return 30_000 + 10 * lines;
}

function unreadable(error: ReadError): KernelFailure {
  return { during: READING, message: describeReadError(error) };
}
