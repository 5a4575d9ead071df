import type { FlowTargets } from '../kernel/conntrack/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import { clearStaleFlows } from './conntrack.ts';
import type { Host } from './host.ts';
import { rereadIpvs } from './read-ipvs.ts';
import {
  describeReadError,
  observedOf,
  type ReadError,
  type Readings,
  readKernel,
  withObserved,
} from './read-kernel.ts';
import { describeToolError, type ToolCall, type ToolError } from './tool.ts';

/** Which tool reads a script on its standard input. */
type ScriptTool = 'ipvs' | 'ipset' | 'address' | 'iptables' | 'ip6tables';

interface KernelFailure {
  readonly refusedBy?: 'ipvs' | 'address';
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
 * The kernel of one machine: reads it, runs scripts against it, and remembers in between what it holds, so that only full passes have to
 * ask. After a failure nothing is taken as known.
 */
export class Kernel {
  readonly #host: Host;
  readonly #families: readonly Family[];
  readonly #nowMs: () => number;
  #known: Readings | undefined;

  constructor(host: Host, families: readonly Family[], nowMs: () => number) {
    this.#host = host;
    this.#families = families;
    this.#nowMs = nowMs;
  }

  async refresh(): Promise<Result<InterfaceAddresses, KernelFailure>> {
    const readings = this.#remember(await readKernel(this.#host, this.#families, this.#known?.ipvs));
    return readings.ok ? succeed(readings.value.interfaces) : readings;
  }

  async read(family: Family): Promise<Result<ObservedState, KernelFailure>> {
    const readings = await this.#reread();
    if (!readings.ok) return readings;
    const observed = observedOf(readings.value, family);
    return observed.ok ? observed : fail(unreadable(observed.error));
  }

  async run(
    scripts: readonly { readonly tool: ScriptTool; readonly text: string }[],
  ): Promise<Result<readonly FinishedScript[], KernelFailure>> {
    const finished: FinishedScript[] = [];
    for (const { tool, text } of scripts) {
      const startedMs = this.#nowMs();
      const lines = linesOf(text);
      const output = await this.#host.runTool(scriptCall(tool, text));
      if (!output.ok) {
        this.#known = undefined;
        return fail({
          during: `programming ${tool}`,
          message: describeToolError(output.error),
          ...refusalOf(tool, output.error),
        });
      }
      finished.push({ tool, lines, tookMs: this.#nowMs() - startedMs });
    }
    return succeed(finished);
  }

  settle(after: ObservedState): void {
    if (this.#known) this.#known = withObserved(this.#known, after);
  }

  async clearStaleFlows(family: Family, targets: FlowTargets): Promise<Result<FlowsCleared, KernelFailure>> {
    const startedMs = this.#nowMs();
    const cleared = await clearStaleFlows(this.#host, family, targets, this.#nowMs);
    if (!cleared.ok) return fail({ during: 'ending stale UDP flows', message: describeReadError(cleared.error) });
    const { flows, deletions, more } = cleared.value;
    const run = { tool: 'conntrack', lines: deletions, tookMs: this.#nowMs() - startedMs } as const;
    return succeed({ flows, more, runs: deletions > 0 ? [run] : [] });
  }

  /** What is known, with virtual servers and their connections as they are now; all of it anew where nothing is known. */
  async #reread(): Promise<Result<Readings, KernelFailure>> {
    const known = this.#known;
    if (!known) return this.#remember(await readKernel(this.#host, this.#families, undefined));
    const ipvs = await rereadIpvs(this.#host, known.ipvs);
    return this.#remember(ipvs.ok ? succeed({ ...known, ipvs: ipvs.value }) : ipvs);
  }

  #remember(readings: Result<Readings, ReadError>): Result<Readings, KernelFailure> {
    this.#known = readings.ok ? readings.value : undefined;
    return readings.ok ? readings : fail(unreadable(readings.error));
  }
}

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

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

/** Two tools carry on after a line that the kernel refused; not so `ipvsadm` after one that it cannot read (status 2). */
function refusalOf(tool: ScriptTool, error: ToolError): Pick<KernelFailure, 'refusedBy'> {
  if (error.kind !== 'tool-refused' || (tool === 'ipvs' && error.exitCode === 2)) return {};
  return tool === 'ipvs' || tool === 'address' ? { refusedBy: tool } : {};
}

/** A slow machine takes about a millisecond a line; the first use of a tool may load modules. */
function timeoutFor(lines: number): number {
  return 30_000 + 10 * lines;
}

function unreadable(error: ReadError): KernelFailure {
  return { during: READING, message: describeReadError(error) };
}
