import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { ColdStarted } from './cold-start-daemon.ts';
import { compile } from './compile.ts';
import { type Bench, REFERENCE_SIZE } from './figure.ts';

/** A daemon starts, lists a cluster over loopback and programs it. The API server, the kernel and the daemon have a process each. */
export const coldStart: Bench = {
  name: 'cold-start',
  title: 'from the start of the daemon to the end of its first pass',
  sizes: [100, 1_000, REFERENCE_SIZE],
  processes: 3,
  run: async (size) => {
    const cluster = startNode('cold-start-cluster.ts', `${size}`);
    const kubeconfig = await cluster.line();
    const machine = startNode('cold-start-machine.ts');
    const { folder, program } = compile(join(import.meta.dirname, 'cold-start-daemon.ts'));
    const daemon = startNode(program, kubeconfig, await machine.line());
    const started: ColdStarted = JSON.parse(await daemon.line());
    await daemon.ended;
    cluster.end();
    machine.end();
    await Promise.all([cluster.ended, machine.ended]);
    rmSync(folder, { recursive: true });
    const { syncedMs, processorMs, synced, later, collected, lines } = started;
    return [
      {
        what: 'start of the process to synced, by the clock',
        unit: 's',
        samples: [syncedMs / 1000],
        goal: { atMost: 10, at: 'reference' },
      },
      { what: 'processor time until then, all threads', unit: 's', samples: [processorMs / 1000] },
      { what: 'lines for ipvsadm', unit: 'lines', samples: [lines] },
      { what: 'RSS when synced', unit: 'MB', samples: [synced.rss / 1e6] },
      { what: 'RSS 10 s later', unit: 'MB', samples: [later.rss / 1e6], goal: { atMost: 200, at: 'reference' } },
      { what: 'RSS then, garbage collected', unit: 'MB', samples: [collected.rss / 1e6] },
      { what: 'heap then, garbage collected', unit: 'MB', samples: [collected.heapUsed / 1e6] },
    ];
  },
};

interface StartedProcess {
  /** The next line that it prints. */
  line(): Promise<string>;
  /** Ends its standard input. */
  end(): void;
  readonly ended: Promise<unknown>;
}

function startNode(file: string, ...args: readonly string[]): StartedProcess {
  const flags = file.includes('daemon') ? process.execArgv : [];
  const child = spawn(process.execPath, [...flags, resolve(import.meta.dirname, file), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit');
  const over = ended.then(([status]) => Promise.reject(new Error(`${file} ended with status ${status}`)));
  over.catch(() => {});
  return {
    line: async () => String((await Promise.race([once(lines, 'line'), over]))[0]),
    end: () => child.stdin.end(),
    ended,
  };
}
