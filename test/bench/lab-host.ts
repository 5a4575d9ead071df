import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../../src/apply/host.ts';
import type { ToolCall } from '../../src/apply/tool.ts';

/** A tool that has run, and when. */
export interface Span {
  readonly call: ToolCall;
  readonly startMs: number;
  readonly endMs: number;
}

export interface TimedHost extends Host {
  /** Since the last call. */
  takeSpans(): readonly Span[];
}

/** Keeps what was run on a machine, and when. */
export function timeHost(host: Host): TimedHost {
  let spans: Span[] = [];
  return {
    ...host,
    runTool: async (call) => {
      const startMs = performance.now();
      const output = await host.runTool(call);
      spans.push({ call, startMs, endMs: performance.now() });
      return output;
    },
    takeSpans: () => {
      const taken = spans;
      spans = [];
      return taken;
    },
  };
}

/** What wrote, and not what only read. */
export function writesOf(spans: readonly Span[]): readonly Span[] {
  return spans.filter(({ call }) => call.input !== undefined);
}

/** Milliseconds during which something ran, side by side or not. */
export function busyMs(spans: readonly Span[]): number {
  let [total, until] = [0, 0];
  for (const { startMs, endMs } of [...spans].sort((a, b) => a.startMs - b.startMs)) {
    total += Math.max(0, endMs - Math.max(startMs, until));
    until = Math.max(until, endMs);
  }
  return total;
}

/** A text as the file that a tool reads. Inside the lab `/run` is memory. */
export function scriptFile(text: string): string {
  const file = join(mkdtempSync('/run/bench-'), 'script');
  writeFileSync(file, text);
  return file;
}

/** Runs the bare tool with a file as its input, nothing of its output kept. Gives the milliseconds from its start to its end; throws when it fails. */
export function bareMs(command: readonly string[], file = '/dev/null'): number {
  const [name = '', ...args] = command;
  const input = openSync(file, 'r');
  const startMs = performance.now();
  const { status, stderr } = spawnSync(name, args, {
    stdio: [input, 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  });
  const tookMs = performance.now() - startMs;
  closeSync(input);
  if (status !== 0) throw new Error(`${command.join(' ')}: status ${status}\n${stderr}`);
  return tookMs;
}

/** As {@link bareMs}, for a command whose time does not matter. */
export function run(...command: readonly string[]): void {
  bareMs(command);
}

/** Network namespaces that have never been used. Their names begin with `prefix`. */
export class FreshNamespaces {
  readonly #prefix: string;
  readonly #names: string[] = [];

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  make(): string {
    const name = `${this.#prefix}-${this.#names.length}`;
    run('ip', 'netns', 'add', name);
    run('ip', '-n', name, 'link', 'set', 'lo', 'up');
    this.#names.push(name);
    return name;
  }

  deleteAll(): void {
    for (const name of this.#names.splice(0)) run('ip', 'netns', 'delete', name);
  }
}

/** What comes before a bare tool that runs inside of one. */
export function inside(namespace: string): readonly string[] {
  return ['nsenter', `--net=/run/netns/${namespace}`];
}
