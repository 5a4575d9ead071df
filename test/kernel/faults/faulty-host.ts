import type { Host } from '../../../src/apply/host.ts';
import { PROC_IPVS } from '../../../src/apply/read-ipvs.ts';
import type { FileError, Tool, ToolCall, ToolError, ToolOutput } from '../../../src/apply/tool.ts';
import { assertNever } from '../../../src/model/assert-never.ts';
import { fail, type Result, succeed } from '../../../src/model/result.ts';
import type { MemoryKernel } from '../memory-kernel.ts';
import { linesOf, scriptUpTo, scriptWithout } from './script-parts.ts';

/** What is struck: a tool with or without a script, or the file that tells of virtual servers. */
export type Place = `${Tool} ${'reads' | 'writes'}` | typeof PROC_IPVS;

/**
 * `share`, from 0 to 1: how much of a script is done before it ends, or where in it the line stands that is refused. `of`: how that line
 * begins, or all those that are refused; a script without any is done.
 */
export type How =
  | { readonly kind: 'missing' }
  | { readonly kind: 'time-out' | 'killed'; readonly share: number }
  | { readonly kind: 'refused' | 'refused-anew'; readonly share: number; readonly of?: string }
  | { readonly kind: 'all-refused'; readonly of: string }
  /** Everything is done, and something is printed. */
  | { readonly kind: 'warning' }
  | { readonly kind: 'garbled' };

/** Something that goes wrong at one place, as long as it is on. */
export interface Fault {
  readonly at: Place;
  readonly how: How;
  /** Calls that it lets pass before the first that it strikes. */
  readonly spared: number;
  /** Calls that it strikes at most. The line that is refused is the same one each time, but for `refused-anew`. */
  readonly times: number;
}

/** A kernel in memory of which some calls fail. */
export class FaultyHost implements Host {
  /** Faults that have struck since the last ones were put on. */
  readonly struck = new Set<Fault>();
  /** Lines that were refused since then. */
  readonly refusedLines = new Set<string>();
  readonly #kernel: MemoryKernel;
  readonly #afterCall: (tool: Tool) => void;
  readonly #matched = new Map<Fault, number>();
  readonly #refused = new Map<Fault, string>();

  /** `afterCall` is called whenever a script has run, or has not. */
  constructor(kernel: MemoryKernel, afterCall: (tool: Tool) => void) {
    this.#kernel = kernel;
    this.#afterCall = afterCall;
  }

  /** From now on these are on, and no others. */
  put(faults: readonly Fault[]): void {
    this.struck.clear();
    this.refusedLines.clear();
    this.#refused.clear();
    this.#matched.clear();
    for (const fault of faults) this.#matched.set(fault, 0);
  }

  async runTool(call: ToolCall): Promise<Result<ToolOutput, ToolError>> {
    const fault = this.#strike(`${call.tool} ${call.input === undefined ? 'reads' : 'writes'}`, call.tool);
    const output = await (fault ? this.#fail(call, fault) : this.#kernel.runTool(call));
    if (call.input !== undefined) this.#afterCall(call.tool);
    return output;
  }

  async readText(path: string): Promise<Result<string, FileError>> {
    const fault = path === PROC_IPVS ? this.#strike(PROC_IPVS) : undefined;
    if (!fault) return this.#kernel.readText(path);
    this.struck.add(fault);
    return fault.how.kind === 'garbled' ? succeed('???\n') : fail({ kind: 'file-failed', path, code: 'EIO' });
  }

  writeText(path: string, text: string): Promise<Result<void, FileError>> {
    return this.#kernel.writeText(path, text);
  }

  /** The fault that this call meets. A tool that is missing neither reads nor writes. */
  #strike(place: Place, tool?: Tool): Fault | undefined {
    let met: Fault | undefined;
    for (const [fault, before] of this.#matched) {
      const { at, how, spared, times } = fault;
      const isHere = at === place || (how.kind === 'missing' && tool !== undefined && at.startsWith(`${tool} `));
      if (!isHere) continue;
      this.#matched.set(fault, before + 1);
      if (before >= spared && before < spared + times) met ??= fault;
    }
    return met;
  }

  async #fail(call: ToolCall, fault: Fault): Promise<Result<ToolOutput, ToolError>> {
    const { tool, input, timeoutMs } = call;
    const { how } = fault;
    const refusal = (exitCode: number, stderr: string): Result<never, ToolError> =>
      fail({ kind: 'tool-refused', tool, exitCode, stderr, script: input ?? '' });
    if (how.kind === 'all-refused') return this.#refuseLines(call, fault, (line) => line.startsWith(how.of));
    const refuses = how.kind === 'refused' || how.kind === 'refused-anew';
    if (refuses && input !== undefined) {
      const chosen = this.#choose(fault, linesOf(input), how);
      return this.#refuseLines(call, fault, (line) => line === chosen);
    }
    this.struck.add(fault);
    switch (how.kind) {
      case 'missing':
        return fail({ kind: 'tool-missing', tool });
      case 'time-out':
      case 'killed': {
        await this.#run(call, scriptUpTo(tool, input, how.share));
        return how.kind === 'killed'
          ? refusal(-1, 'ended by SIGKILL')
          : fail({ kind: 'tool-timeout', tool, afterMs: timeoutMs });
      }
      case 'refused':
      case 'refused-anew':
        return refusal(1, 'Operation not permitted\n');
      case 'warning': {
        const ran = await this.#kernel.runTool(call);
        return ran.ok && tool === 'ipvsadm' ? refusal(0, 'a warning\n') : ran;
      }
      case 'garbled':
        return succeed({ stdout: '???\n', stderr: '' });
      default:
        return assertNever(how);
    }
  }

  /** The line that is refused; the same one as before, but for `refused-anew`. */
  #choose(
    fault: Fault,
    lines: readonly string[],
    { share, of = '' }: { readonly share: number; readonly of?: string },
  ): string | undefined {
    const refusable = lines.filter((line) => line.startsWith(of));
    const chosen =
      this.#refused.get(fault) ?? refusable[Math.min(refusable.length - 1, Math.floor(share * refusable.length))];
    if (fault.how.kind === 'refused' && chosen !== undefined) this.#refused.set(fault, chosen);
    return chosen;
  }

  /** As each tool does it: two go on, `ipset` stops, maybe before it comes to that line, and rules are refused by the table. */
  async #refuseLines(
    call: ToolCall,
    fault: Fault,
    isRefused: (line: string) => boolean,
  ): Promise<Result<ToolOutput, ToolError>> {
    const { tool, input = '' } = call;
    const lines = linesOf(input);
    const index = lines.findIndex(isRefused);
    if (index < 0) return this.#kernel.runTool(call);
    const isTyped = tool === 'ipset' && call.args.at(-1) === '-';
    const goesOn = isTyped || tool !== 'ipset';
    const ran = await this.#run(call, scriptWithout(tool, input, isRefused, goesOn));
    if (!goesOn && !ran.ok) return ran;
    this.struck.add(fault);
    const refused = goesOn ? lines.filter(isRefused) : lines.slice(index, index + 1);
    for (const line of refused) this.refusedLines.add(line);
    if (isTyped) return ran;
    const more = ran.ok || ran.error.kind !== 'tool-refused' ? '' : ran.error.stderr;
    const isLast = isRefused(lines.at(-1) ?? '');
    const [exitCode, stderr] = refusalOf(tool, lines[index] ?? '', index, isLast);
    return fail({ kind: 'tool-refused', tool, exitCode, stderr: `${stderr}${more}`, script: input });
  }

  async #run(call: ToolCall, input: string): Promise<Result<ToolOutput, ToolError>> {
    return input === '' ? succeed({ stdout: '', stderr: '' }) : this.#kernel.runTool({ ...call, input });
  }
}

/** Status and text of a tool that refuses lines; `isLast`: the last one of its script is among them. */
function refusalOf(tool: Tool, line: string, index: number, isLast: boolean): readonly [number, string] {
  switch (tool) {
    case 'ipvsadm':
      return [isLast ? 255 : 0, 'Memory allocation problem\n'];
    case 'ipset':
      return [1, `ipset v7.17: Error in line ${index + 1}: Kernel error received: ${line}\n`];
    case 'ip':
      return [1, `RTNETLINK answers: Cannot allocate memory\nCommand failed -:${index + 1}\n`];
    default:
      return [1, `${tool}: line ${index + 1} failed\n`];
  }
}
