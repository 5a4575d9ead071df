import type { Result } from '../model/result.ts';
import { succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import type { FileError, ToolError } from './tool.ts';

/** What `parse-counters.ts` reads, as printed. */
export interface CounterTexts {
  readonly counters: string;
  /** Connections as they stand. */
  readonly connections: string;
}

/** Both texts side by side: one process for the counters, a file for the connections. */
export async function readCounters(host: Host): Promise<Result<CounterTexts, ToolError | FileError>> {
  const [counters, connections] = await Promise.all([
    host.runTool({ tool: 'ipvsadm', args: ['-Ln', '--stats', '--exact'], timeoutMs: 60_000 }),
    host.readText('/proc/net/ip_vs'),
  ]);
  if (!counters.ok) return counters;
  if (!connections.ok) return connections;
  return succeed({ counters: counters.value.stdout, connections: connections.value });
}
