import type { Host } from '../../src/apply/host.ts';
import type { ToolCall } from '../../src/apply/tool.ts';
import { fail, succeed } from '../../src/model/result.ts';
import type { MemoryKernel } from '../kernel/memory-kernel.ts';

/** What a host was asked for since the last look. */
export interface Spent {
  readonly processes: number;
  /** Of all scripts together. */
  readonly lines: number;
}

export interface WatchedHost extends Host {
  takeSpent(): Spent;
}

/** Counts what a host is asked for. */
export function watchHost(host: Host): WatchedHost {
  let spent: Spent = NOTHING;
  return {
    ...host,
    runTool: (call) => {
      spent = { processes: spent.processes + 1, lines: spent.lines + countLines(call) };
      return host.runTool(call);
    },
    takeSpent: () => {
      const taken = spent;
      spent = NOTHING;
      return taken;
    },
  };
}

/** All that a machine prints, by command line or path. */
export type MachineTexts = ReadonlyMap<string, string>;

/** What the machine prints as it is now. */
export async function machineTexts(kernel: MemoryKernel): Promise<MachineTexts> {
  const printed = await Promise.all(
    READS.map(async ([tool, ...args]) => {
      const output = await kernel.runTool({ tool, args, timeoutMs: 0 });
      if (!output.ok) throw new Error(`${tool} cannot be read`);
      return [[tool, ...args].join(' '), output.value.stdout] as const;
    }),
  );
  kernel.calls.length = 0;
  return new Map([...printed, [PROC_IPVS, kernel.ipvs.proc()]]);
}

/**
 * A machine that takes no time: it prints what has been prepared, and takes every script. With each script for `ipvsadm` it goes on to the
 * next of its states, after the last one to the first.
 */
export function preparedHost(states: readonly [MachineTexts, ...MachineTexts[]]): Host {
  let turn = 0;
  const printed = (key: string) => (states[turn % states.length] ?? states[0]).get(key);
  return {
    runTool: async ({ tool, args, input }) => {
      if (input !== undefined && tool === 'ipvsadm') turn += 1;
      return succeed({ stdout: printed([tool, ...args].join(' ')) ?? '', stderr: '' });
    },
    readText: async (path) => {
      const text = printed(path);
      return text === undefined ? fail({ kind: 'file-failed', path, code: 'ENOENT' }) : succeed(text);
    },
    writeText: async () => succeed(undefined),
  };
}

export function countLines({ input = '' }: Pick<ToolCall, 'input'>): number {
  return input.split('\n').filter((line) => line !== '').length;
}

const NOTHING: Spent = { processes: 0, lines: 0 };

const PROC_IPVS = '/proc/net/ip_vs';

const READS: readonly (readonly [ToolCall['tool'], ...string[]])[] = [
  ['ipvsadm', '-Ln'],
  ['ipvsadm', '-Sn'],
  ['ipset', 'save'],
  ['ip', '-json', 'address', 'show'],
  ['iptables-save'],
];
