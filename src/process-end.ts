import type { ExitCode } from './cli/exit-code.ts';

/** How long a process that is told to end may take; then it ends, whatever it waits for. */
const END_LIMIT_MS = 10_000;

/** The signals that ask the process to end. */
export class StopSignals {
  readonly #received = Promise.withResolvers<string>();
  readonly #limitMs: number;
  #isAwaited = false;
  #isReceived = false;

  /** To be made first of all: the first process of a container has no signals but those that it listens to. */
  constructor(limitMs = END_LIMIT_MS) {
    this.#limitMs = limitMs;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => this.#take(signal));
  }

  /**
   * Resolves with the name of the first signal. Until somebody asks for it, a signal ends the process at once; a second one does so too. With
   * the first one the limit begins, 10 s.
   */
  received(): Promise<string> {
    this.#isAwaited = true;
    return this.#received.promise;
  }

  /** Ends the process with the status of its work; what is still open by then, such as tools and files that were given up, is not waited for. */
  async endWith(work: Promise<ExitCode>): Promise<void> {
    const status = await work;
    if (this.#isReceived) leave(status);
    process.exit(status);
  }

  #take(signal: string): void {
    if (!this.#isAwaited) leave(1);
    this.#isReceived = true;
    for (const second of ['SIGTERM', 'SIGINT'] as const) process.on(second, () => leave(1));
    setTimeout(() => leave(Number(process.exitCode ?? 0)), this.#limitMs).unref();
    this.#received.resolve(signal);
  }
}

/**
 * Ends the process though a thread of it waits for a file that does not come, a FIFO's or that of a server which is gone. `process.exit` would
 * wait for the thread, and a signal to itself is nothing to the first process of a container: after what `process.exit` would call, it becomes
 * a program that only ends.
 */
function leave(status: number): never {
  process.emit('exit', status);
  try {
    process.execve?.('/proc/self/exe', [process.execPath, '--eval', `process.exit(${status})`], {});
  } finally {
    process.exit(status);
  }
}
