import type { Host } from './host.ts';
import type { Tool, ToolCall } from './tool.ts';

/** One call to the kernel that has ended, as somebody counts it. */
export interface KernelCall {
  /** `file` for a file of the kernel. */
  readonly tool: Tool | 'file';
  readonly operation: 'read' | 'write';
  readonly result: 'ok' | 'failed';
  readonly tookMs: number;
}

/** The same machine; `told` hears of each call when it has ended, in whichever way. */
export function countedHost(host: Host, nowMs: () => number, told: (call: KernelCall) => void): Host {
  const count = async <T extends { readonly ok: boolean }>(
    tool: KernelCall['tool'],
    operation: KernelCall['operation'],
    work: () => Promise<T>,
  ): Promise<T> => {
    const startedMs = nowMs();
    const ended = await work();
    told({ tool, operation, result: ended.ok ? 'ok' : 'failed', tookMs: nowMs() - startedMs });
    return ended;
  };
  return {
    ...host,
    runTool: (call) => count(call.tool, writes(call) ? 'write' : 'read', () => host.runTool(call)),
    readText: (path) => count('file', 'read', () => host.readText(path)),
    writeText: (path, text) => count('file', 'write', () => host.writeText(path, text)),
  };
}

/** What reads a script changes something; so does the deletion of tracked flows. */
function writes({ tool, args, input }: ToolCall): boolean {
  return input !== undefined || (tool === 'conntrack' && args[0] === '-D') || tool === 'modprobe';
}
