import type { ToolCall, ToolError } from '../../src/apply/tool.ts';
import { fail } from '../../src/model/result.ts';
import type { MemoryKernel } from './memory-kernel.ts';

/**
 * From now on the kernel refuses lines, as each tool meets with it: `ipvsadm`, `ip` and `ipset -` go on, `ipset restore` stops, and rules
 * are refused by the script. The answer ends it.
 */
export function refuseLines(kernel: MemoryKernel, isRefused: (line: string) => boolean): () => void {
  const { runTool } = kernel;
  kernel.runTool = async (call) => {
    const lines = (call.input ?? '').split('\n').filter(Boolean);
    const first = lines.findIndex(isRefused);
    if (first < 0) return runTool(call);
    const done = doneOf(call, lines, first, isRefused);
    const ran = await runTool({ ...call, input: done.map((line) => `${line}\n`).join('') });
    const isTyped = call.tool === 'ipset' && call.args.at(-1) === '-';
    return ran.ok && !isTyped ? fail(refusal(call, first)) : ran;
  };
  return () => {
    kernel.runTool = runTool;
  };
}

function doneOf(
  { tool, args }: ToolCall,
  lines: readonly string[],
  first: number,
  isRefused: (line: string) => boolean,
): readonly string[] {
  if (tool.endsWith('tables-restore')) return [];
  const stops = tool === 'ipset' && args.at(-1) === 'restore';
  return stops ? lines.slice(0, first) : lines.filter((line) => !isRefused(line));
}

function refusal({ tool, input = '' }: ToolCall, first: number): ToolError {
  const stderr =
    tool === 'ipset'
      ? `ipset v7.17: Error in line ${first + 1}: Kernel error received: set type\n`
      : 'Invalid argument\n';
  return { kind: 'tool-refused', tool, exitCode: tool === 'ipvsadm' ? 0 : 1, stderr, script: input };
}
