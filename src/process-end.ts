import type { ExitCode } from './cli/exit-code.ts';

/** How long a process that is told to end may take; then it ends, whatever it waits for. */
const END_LIMIT_MS = 10_000;

/** The signals that ask the process to end. */
export class StopSignals {
  readonly #received = Promise.withResolvers<string>();
  readonly #limitMs: number;
  #isAwaited = false;

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

  #take(signal: string): void {
    if (!this.#isAwaited) process.exit(1);
    for (const second of ['SIGTERM', 'SIGINT'] as const) process.on(second, () => process.exit(1));
    setTimeout(() => process.exit(), this.#limitMs).unref();
    this.#received.resolve(signal);
  }
}

/** Ends the process with the status of its work; what is still open by then, such as tools that were given up, is not waited for. */
export async function endWith(work: Promise<ExitCode>): Promise<never> {
  process.exit(await work);
}
