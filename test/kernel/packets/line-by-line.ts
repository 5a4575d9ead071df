import type { Tool, ToolCall, ToolError, ToolOutput } from '../../../src/apply/tool.ts';
import { fail, type Result, succeed } from '../../../src/model/result.ts';
import type { Family } from '../../../src/net/family.ts';
import type { MemoryKernel } from '../memory-kernel.ts';

/** A line of a script, or a table of rules. */
export interface Piece {
  readonly text: string;
  /** Whom it concerns. */
  readonly family: Family;
}

export interface Looks {
  /** Waited for whenever a piece has run or was refused. */
  readonly after: (piece: Piece) => Promise<void>;
  readonly isRefused: (piece: Piece) => boolean;
}

/** Has a kernel in memory run scripts piece by piece, as the real one does; it can refuse some, and die between two of them. */
export class LineByLine {
  /** What was refused, of all scripts but those of rules. */
  readonly refused = new Set<string>();
  readonly #run: MemoryKernel['runTool'];
  #looks: Looks | undefined;
  #life = 0;
  #left = Number.POSITIVE_INFINITY;
  #died = Promise.withResolvers<true>();

  constructor(kernel: MemoryKernel) {
    this.#run = kernel.runTool;
    kernel.runTool = (call) => this.#runTool(call);
  }

  /** From now on; `undefined`: everything runs, and nobody looks. */
  put(looks: Looks | undefined): void {
    this.#looks = looks;
  }

  /** True when the work came to its death after so many pieces, and hears nothing any more; false when it was done before. */
  async dieAfter(pieces: number, work: () => Promise<unknown>): Promise<boolean> {
    this.#left = pieces;
    this.#died = Promise.withResolvers<true>();
    const isDead = await Promise.race([work().then(() => false), this.#died.promise]);
    // What the other family does at this time comes to the same end.
    await new Promise((resolve) => setImmediate(resolve));
    this.#life += 1;
    this.#left = Number.POSITIVE_INFINITY;
    return isDead;
  }

  async #runTool(call: ToolCall): Promise<Result<ToolOutput, ToolError>> {
    const life = this.#life;
    const output = call.input === undefined ? await this.#run(call) : await this.#runPieces(call, life);
    return life === this.#life ? output : NEVER;
  }

  async #runPieces(call: ToolCall, life: number): Promise<Result<ToolOutput, ToolError>> {
    const { tool, args } = call;
    const stops = args.at(-1) === '-' ? undefined : STOPPING[tool];
    let stderr = '';
    for (const [index, piece] of piecesOf(call).entries()) {
      if (life !== this.#life) return NEVER;
      if (this.#left <= 0) {
        this.#died.resolve(true);
        return NEVER;
      }
      this.#left -= 1;
      const said = await this.#runPiece(call, piece);
      await this.#looks?.after(piece);
      if (said === undefined) continue;
      if (stops) return fail(refusal(call, 1, stops(index + 1, said)));
      stderr += `${said}\n`;
    }
    if (stderr === '' || tool === 'ipset') return succeed({ stdout: '', stderr });
    return fail(refusal(call, tool === 'ipvsadm' ? 0 : 1, stderr));
  }

  /** What the tool says when it is refused the piece. */
  async #runPiece(call: ToolCall, piece: Piece): Promise<string | undefined> {
    if (this.#looks?.isRefused(piece)) {
      if (!call.tool.endsWith('tables-restore')) this.refused.add(piece.text.trimEnd());
      return 'Kernel error received: no memory';
    }
    const ran = await this.#run({ ...call, input: piece.text });
    if (ran.ok) return undefined;
    return ran.error.kind === 'tool-refused' ? ran.error.stderr.trimEnd() : ran.error.kind;
  }
}

const NEVER = new Promise<never>(() => {});

/** Tools that read no further than to what they are refused, with what they say then; but `ipset -` goes on, as `ip -` does. */
const STOPPING: Readonly<Partial<Record<Tool, (line: number, why: string) => string>>> = {
  ipset: (line, why) => `ipset v7.17: Error in line ${line}: ${why}\n`,
  'iptables-restore': (_, why) => `iptables-restore: ${why}\n`,
  'ip6tables-restore': (_, why) => `ip6tables-restore: ${why}\n`,
};

function refusal({ tool, input = '' }: ToolCall, exitCode: number, stderr: string): ToolError {
  return { kind: 'tool-refused', tool, exitCode, stderr, script: input };
}

function piecesOf({ tool, input = '' }: ToolCall): readonly Piece[] {
  switch (tool) {
    case 'iptables-restore':
    case 'ip6tables-restore':
      return split(input, /(?<=COMMIT\n)/, () => tool === 'ip6tables-restore');
    case 'ipset':
      return split(input, /(?<=\n)/, (line) => line.includes('KUBE-6-'));
    default:
      return split(input, /(?<=\n)/, (line) => /:\S*:/.test(line));
  }
}

function split(script: string, between: RegExp, isIPv6: (piece: string) => boolean): readonly Piece[] {
  const pieces = script.split(between).filter((piece) => piece.trim() !== '');
  return pieces.map((text) => ({ text, family: isIPv6(text) ? 'IPv6' : 'IPv4' }));
}
